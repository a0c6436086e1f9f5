package partial

import (
	"bytes"
	"encoding/json"
	"slices"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/policy"
)

// receiver is the client of the whole browser, for one connection.
type receiver struct{ *conn }

// Name implements [browser.Client].
func (r receiver) Name() string { return r.to.Name() }

// End implements [browser.Client].
func (r receiver) End(code uint16, reason string) {
	if code == 0 {
		r.whole.Lost()
	}
	r.to.End(code, reason)
}

// Send implements [browser.Client]. The browser's messages begin with the id or the method, as
// package multiplex forwards them.
func (r receiver) Send(message []byte) {
	c := r.conn
	c.whole.Receive(message, message)
	b := c.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case bytes.HasPrefix(message, []byte(`{"method":"Target.`)):
		if !c.targetEvent(message) {
			return
		}
	case bytes.HasPrefix(message, []byte(`{"method":"Fetch.requestPaused"`)):
		if c.continues(message) {
			return
		}
	case len(c.pending) > 0 && bytes.HasPrefix(message, []byte(idHead)):
		if message = c.answered(message); message == nil {
			return
		}
	}
	// A command that was sent before may have run in what is out of reach.
	if s := c.sessions[browser.SessionOf(message)]; s != nil && (s.lost || s.keeps(message)) {
		return
	}
	c.to.Send(message)
}

// answered is what the client gets for a response. mu is held.
func (c *conn) answered(message []byte) []byte {
	id, _, _ := bytes.Cut(message[len(idHead):], []byte(","))
	at := key(browser.SessionOf(message), id)
	handle, ok := c.pending[at]
	if !ok {
		return message
	}
	delete(c.pending, at)
	return handle(message)
}

// continues has the browser continue a request for a file, or a page of the browser: its user
// opens that in a tab of the client. mu is held.
func (c *conn) continues(message []byte) bool {
	var m struct {
		Session string `json:"sessionId"`
		Params  struct {
			ID      string `json:"requestId"`
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		} `json:"params"`
	}
	if json.Unmarshal(message, &m) == nil && policy.OpensPage(m.Params.Request.URL) {
		return false
	}
	c.call(m.Session, "Fetch.continueRequest", map[string]any{"requestId": m.Params.ID}, ignore)
	return true
}

// targetEvent keeps track of the client's sessions. It reports whether the client gets the
// event: of other targets this package reports itself. mu is held.
func (c *conn) targetEvent(message []byte) (forward bool) {
	var m attachment
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
			return c.attachedWithin(message)
		case m.Params.Info.Type == "browser":
		default:
			s.target = m.Params.Info.ID
			if c.browser.clientTarget(s.target) == nil { // it has just left the part
				c.detach(m.Session, m.Params.Session)
				return false
			}
		}
		c.sessions[m.Params.Session] = s
	case "Target.detachedFromTarget":
		for frame, held := range c.held {
			if bytes.Contains(held, []byte(m.Params.Session)) {
				delete(c.held, frame)
			}
		}
		ended := c.sessions[m.Params.Session]
		if ended == nil {
			return false
		}
		c.browser.disposed(ended)
		delete(c.sessions, m.Params.Session)
	default:
		return within != nil && within.target != ""
	}
	return true
}

// attachment is an event about a session.
type attachment struct {
	Method  string `json:"method"`
	Session string `json:"sessionId"`
	Params  struct {
		Session string `json:"sessionId"`
		Waits   bool   `json:"waitingForDebugger"`
		Info    info   `json:"targetInfo"`
	} `json:"params"`
}

// attachedWithin keeps track of a session within a page's, and reports whether the client gets
// it. That of a frame is held until it is known what the frame shows. mu is held.
func (c *conn) attachedWithin(message []byte) (forward bool) {
	var m attachment
	within := (*session)(nil)
	if json.Unmarshal(message, &m) == nil {
		within = c.sessions[m.Session]
	}
	if within == nil {
		return false
	}
	s := &session{parent: m.Session, target: within.target}
	if m.Params.Info.Type == "iframe" {
		s.frame = m.Params.Info.ID
		switch address := c.browser.frames[s.frame]; {
		case address == "":
			c.held[s.frame] = bytes.Clone(message)
			if m.Params.Waits { // it would never show anything
				c.call(m.Params.Session, "Runtime.runIfWaitingForDebugger", struct{}{}, ignore)
			}
			return false
		case !opensFrame(address):
			c.detach(m.Session, m.Params.Session)
			return false
		}
	} else if !slices.Contains(kindsWithin, m.Params.Info.Type) {
		c.detach(m.Session, m.Params.Session)
		return false
	}
	c.sessions[m.Params.Session] = s
	return true
}
