package cdpproxy

import (
	"bytes"
	"encoding/json"
)

// attached knows the target of each session of a connection. The browser reports
// every session to a client before the client can use it.
type attached struct {
	begun []byte // the beginning of an incomplete event
	skip  bool   // the current frame is no such event

	targets map[string]string
}

// ofTargets is the beginning of the events that attached reads. Few other messages
// begin with it.
var ofTargets = []byte(`{"method":"Target.`)

// maxTargetEvent bounds the buffer for an event. A longer one is not read.
const maxTargetEvent = 64 << 10

// follow reads data; frames is the state of the stream before it.
func (a *attached) follow(frames frameScanner, data []byte) {
	for len(data) > 0 {
		var p piece
		p, data = frames.next(data)
		a.read(p)
	}
}

// read reads the browser's next piece.
func (a *attached) read(p piece) {
	if p.header != nil {
		a.begun, a.skip = nil, false
	}
	switch {
	case a.skip:
	case p.last && len(a.begun) == 0:
		a.event(p.payload)
	case len(a.begun)+len(p.payload) > maxTargetEvent, len(a.begun) == 0 && !begins(p.payload):
		a.begun, a.skip = nil, true
	default:
		a.begun = append(a.begun, p.payload...)
		if p.last {
			a.event(a.begun)
			a.begun = nil
		} else if !begins(a.begun) {
			a.begun, a.skip = nil, true
		}
	}
}

// begins reports whether a message that begins with b may be such an event.
func begins(b []byte) bool {
	n := min(len(b), len(ofTargets))
	return bytes.Equal(b[:n], ofTargets[:n])
}

// event reads a whole message.
func (a *attached) event(text []byte) {
	if len(text) > maxTargetEvent || !bytes.HasPrefix(text, ofTargets) {
		return
	}
	var event struct {
		Method string `json:"method"`
		Params struct {
			Session string `json:"sessionId"`
			Info    struct {
				ID string `json:"targetId"`
			} `json:"targetInfo"`
		} `json:"params"`
	}
	rest := text[len(ofTargets):]
	came, went := bytes.HasPrefix(rest, []byte(`attachedToTarget"`)), bytes.HasPrefix(rest, []byte(`detachedFromTarget"`))
	if !came && !went || json.Unmarshal(text, &event) != nil {
		return
	}
	if went {
		delete(a.targets, event.Params.Session)
		return
	}
	if a.targets == nil {
		a.targets = map[string]string{}
	}
	a.targets[event.Params.Session] = event.Params.Info.ID
}
