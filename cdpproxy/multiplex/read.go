package multiplex

import (
	"encoding/json"
	"errors"
	"io"

	"browser-coordinator/cdpproxy/browser"
)

// read is the only reader of the transport. Nothing that it calls waits for a client.
func (s *Server) read() {
	defer s.end()
	for {
		text, err := s.transport.Read()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.log.Debug("read from the browser", "error", err)
			}
			return
		}
		s.route(text)
	}
}

// route forwards a message to its client.
func (s *Server) route(text []byte) {
	m, err := parse(text)
	if err != nil {
		s.log.Warn("the browser sent an invalid message", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.reply {
		s.respond(&m)
	} else {
		s.event(&m)
	}
}

// respond forwards a response. mu is held.
func (s *Server) respond(m *incoming) {
	c, ok := s.calls[m.id]
	if !ok {
		return // its client has left
	}
	delete(s.calls, m.id)
	if c.done == nil {
		delete(c.session.calls, m.id)
		c.client.downstream.Send(m.withID(c.id, c.session.parent != nil))
		return
	}
	var r struct {
		Result json.RawMessage `json:"result"`
		Error  *browser.Error  `json:"error"`
	}
	err := json.Unmarshal(m.text, &r)
	if err == nil && r.Error != nil {
		err = r.Error
	}
	if err == nil && c.client != nil {
		err = s.attached(c.client, r.Result)
	}
	c.done <- response{r.Result, err}
}

// attached gives a client the session that was attached for it. mu is held.
func (s *Server) attached(c *client, result json.RawMessage) error {
	id, err := sessionOf(result)
	if err != nil {
		return err
	}
	if c.ctx.Err() != nil {
		s.detach(id)
		return errClosed
	}
	c.root = s.add(id, c, nil)
	return nil
}

func sessionOf(params json.RawMessage) (string, error) {
	var p struct {
		Session string `json:"sessionId"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return "", err
	}
	if p.Session == "" {
		return "", errors.New("the browser has opened no session")
	}
	return p.Session, nil
}

// event forwards an event, and keeps track of the sessions. mu is held.
func (s *Server) event(m *incoming) {
	sess := s.sessions[m.session]
	if sess == nil && m.session != "" {
		return // of a client that has left
	}
	attached := m.event == "Target.attachedToTarget"
	if attached || m.event == "Target.detachedFromTarget" {
		var e struct {
			Params json.RawMessage `json:"params"`
		}
		err := json.Unmarshal(m.text, &e)
		var id string
		if err == nil {
			id, err = sessionOf(e.Params)
		}
		switch {
		case err != nil:
			s.log.Warn("the browser sent an event that cannot be read", "event", m.event, "error", err)
		case attached && sess != nil:
			s.add(id, sess.client, sess)
		case !attached && s.sessions[id] != nil:
			s.forget(s.sessions[id])
		}
	}
	switch {
	case sess == nil: // the server's own
	case sess.parent == nil:
		sess.client.downstream.Send(m.withoutSession())
	default:
		sess.client.downstream.Send(m.text)
	}
}
