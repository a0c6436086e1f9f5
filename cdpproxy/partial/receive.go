package partial

import (
	"bytes"
	"encoding/json"
)

// receiver is the client of the whole browser, for one connection.
type receiver struct{ *conn }

// Name implements [browser.Client].
func (r receiver) Name() string { return r.to.Name() }

// End implements [browser.Client].
func (r receiver) End(code uint16, reason string) { r.to.End(code, reason) }

// Send implements [browser.Client]. The browser's messages begin with the id or the method, as
// package multiplex forwards them.
func (r receiver) Send(message []byte) {
	c := r.conn
	b := c.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case bytes.HasPrefix(message, []byte(`{"method":"Target.`)):
		if !c.targetEvent(message) {
			return
		}
	case len(c.pending) > 0 && bytes.HasPrefix(message, []byte(`{"id":`)):
		if message = c.answered(message); message == nil {
			return
		}
	}
	c.to.Send(message)
}

// answered is what the client gets for a response. mu is held.
func (c *conn) answered(message []byte) []byte {
	id, _, _ := bytes.Cut(message[len(`{"id":`):], []byte(","))
	session := ""
	const head = `,"sessionId":"`
	if at := bytes.LastIndex(message, []byte(head)); at >= 0 {
		if text, ok := bytes.CutSuffix(message[at+len(head):], []byte(`"}`)); ok && bytes.IndexByte(text, '"') < 0 {
			session = string(text)
		}
	}
	handle, ok := c.pending[key(session, id)]
	if !ok {
		return message
	}
	delete(c.pending, key(session, id))
	return handle(message)
}

// targetEvent keeps track of the client's sessions. It reports whether the client gets the
// event: of other targets this package reports itself. mu is held.
func (c *conn) targetEvent(message []byte) (forward bool) {
	var m struct {
		Method  string `json:"method"`
		Session string `json:"sessionId"`
		Params  struct {
			Session string `json:"sessionId"`
			Info    info   `json:"targetInfo"`
		} `json:"params"`
	}
	if json.Unmarshal(message, &m) != nil {
		return false
	}
	within := c.sessions[m.Session]
	switch m.Method {
	case "Target.attachedToTarget":
		s := &session{parent: m.Session}
		switch {
		case within == nil:
			return false
		case within.target != "":
			s.target = within.target
		case m.Params.Info.Type == "browser":
		default:
			s.target = m.Params.Info.ID
			if c.browser.shown(s.target) == nil { // it has just left the part
				c.call(m.Session, "Target.detachFromTarget", map[string]any{"sessionId": m.Params.Session},
					func([]byte) []byte { return nil })
				return false
			}
		}
		c.sessions[m.Params.Session] = s
	case "Target.detachedFromTarget":
		if c.sessions[m.Params.Session] == nil {
			return false
		}
		delete(c.sessions, m.Params.Session)
	default:
		return within != nil && within.target != ""
	}
	return true
}
