package cdpproxy

import (
	"strings"
	"testing"
)

// TestAttached: the target of a session is known from its first event to its last,
// wherever the stream is split.
func TestAttached(t *testing.T) {
	long := strings.Repeat("x", maxTargetEvent)
	var stream []byte
	for _, message := range []string{
		`{"id":1,"result":{}}`,
		`{"method":"Target.targetCreated","params":{"targetInfo":{"targetId":"T0"}}}`,
		`{"method":"Target.attachedToTarget","params":{"sessionId":"S1","targetInfo":{"targetId":"T1","type":"page","title":"` + strings.Repeat("t", 200) + `"},"waitingForDebugger":false}}`,
		`{"method":"Target.attachedToTarget","params":{"sessionId":"S2","targetInfo":{"targetId":"T2"}},"sessionId":"S1"}`,
		`{"method":"Target.attachedToTarget","params":{"sessionId":"S3","targetInfo":{"targetId":"T3","title":"` + long + `"}}}`,
		`{"method":"Runtime.consoleAPICalled","params":{"text":"{\"method\":\"Target.attachedToTarget\""}}`,
		`{"method":"Target.detachedFromTarget","params":{"sessionId":"S2","targetId":"T2"}}`,
	} {
		stream = append(stream, textFrame([]byte(message))...)
	}
	for _, piece := range []int{1, 2, 3, 7, 64, 1000, len(stream)} {
		var a attached
		var frames frameScanner
		for rest := stream; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
			part := rest[:min(piece, len(rest))]
			a.follow(frames, part)
			frames.scan(part)
		}
		if one, two, three := a.targets["S1"], a.targets["S2"], a.targets["S3"]; one != "T1" || two != "" || three != "" || len(a.begun) > 0 {
			t.Errorf("in pieces of %d: %q %q %q, and %d bytes are kept", piece, one, two, three, len(a.begun))
		}
	}
}
