package cdpproxy

import (
	"bytes"
	"encoding/json"
	"sync"
)

// attached knows which target each of a connection's sessions is with. The browser
// tells a client of every session before the client can use it.
type attached struct {
	begun []byte // of an event that has not come to its end

	mu      sync.Mutex // guards targets
	targets map[string]string
}

// ofTargets is how Chromium begins the events that are looked for, and few others.
var ofTargets = []byte(`{"method":"Target.`)

// maxTargetEvent bounds what is kept of an event; a longer one is not read.
const maxTargetEvent = 64 << 10

// follow takes data that comes when frames is the state of the stream before it.
func (a *attached) follow(frames frameScanner, data []byte) {
	for len(data) > 0 {
		first := frames.between()
		n := frames.frame(data)
		a.hear(data[:n], first, frames.between())
		data = data[n:]
	}
}

// hear takes the browser's next bytes of one frame: its first, where first says
// so, and its last, where last does.
func (a *attached) hear(b []byte, first, last bool) {
	switch {
	case first && last:
		a.read(b)
		return
	case first:
		a.begun = nil
		if !begins(b) {
			return
		}
	case a.begun == nil:
		return
	}
	a.begun = append(a.begun, b...)
	if last {
		a.read(a.begun)
	}
	if last || len(a.begun) > maxTargetEvent || !begins(a.begun) {
		a.begun = nil
	}
}

// begins reports whether a frame that begins with b may be such an event.
func begins(b []byte) bool {
	if h := headerLength(b); len(b) > h {
		b = b[h:]
		n := min(len(b), len(ofTargets))
		return bytes.Equal(b[:n], ofTargets[:n])
	}
	return true
}

// read takes a whole frame.
func (a *attached) read(frame []byte) {
	h := headerLength(frame)
	if len(frame) < h || len(frame) > maxTargetEvent || !bytes.HasPrefix(frame[h:], ofTargets) {
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
	rest := frame[h+len(ofTargets):]
	came, went := bytes.HasPrefix(rest, []byte(`attachedToTarget"`)), bytes.HasPrefix(rest, []byte(`detachedFromTarget"`))
	if !came && !went || json.Unmarshal(frame[h:], &event) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if went {
		delete(a.targets, event.Params.Session)
		return
	}
	if a.targets == nil {
		a.targets = map[string]string{}
	}
	a.targets[event.Params.Session] = event.Params.Info.ID
}

// target returns the target of a session, empty if it is not known.
func (a *attached) target(session string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.targets[session]
}
