package cdpproxy

import (
	"bytes"
	"encoding/json"
	"sync"
)

// attached knows which target each of a connection's sessions is with. The browser
// tells a client of every session before the client can use it.
type attached struct {
	begun []byte // of an event that is incomplete
	skip  bool   // the frame that is read is no such event

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
		var p piece
		p, data = frames.next(data)
		a.read(p)
	}
}

// read takes the browser's next piece.
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

// event takes a whole message.
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
