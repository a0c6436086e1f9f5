package pipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"browser-coordinator/cdpproxy"
)

const (
	pieceSize = 256 << 10 // that is read at once
	// kept is how much of both ends of a message remains when it is too large:
	// enough to find its client.
	kept = 256
)

// maxIncoming is the largest message of the browser that is forwarded. A debugging
// port drops larger ones as well. Tests change it.
var maxIncoming = cdpproxy.DefaultMaxBuffered

// read is the only reader of the pipe. Nothing that it calls waits for a client.
func (s *Server) read() {
	defer s.end()
	piece := make([]byte, pieceSize)
	var open []byte // the incomplete message, after its headroom
	var lost int    // bytes that were cut out of it
	for {
		n, err := s.in.Read(piece)
		for rest := piece[:n]; len(rest) > 0; {
			end := bytes.IndexByte(rest, 0)
			part := rest[:max(end, 0)]
			if end < 0 {
				part = rest
			}
			if open == nil {
				open = make([]byte, headroom, headroom+len(part))
			} else if need := len(open) + len(part); need > cap(open) {
				open = slices.Grow(open, max(len(part), len(open)))
			}
			open = append(open, part...)
			if len(open) > maxIncoming {
				// The head has the response's id, the tail its session.
				cut := len(open) - headroom - 2*kept
				open = slices.Delete(open, headroom+kept, headroom+kept+cut)
				lost += cut
			}
			if end < 0 {
				break
			}
			s.route(open, lost)
			open, lost = nil, 0
			rest = rest[end+1:]
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.log.Debug("read the browser's pipe", "error", err)
			}
			return
		}
	}
}

// route forwards a message to its client.
func (s *Server) route(buf []byte, lost int) {
	m := incoming{buf: buf}
	if lost > 0 {
		m.head()
		m.end()
	} else {
		var err error
		if m, err = parseIncoming(buf); err != nil {
			s.log.Warn("the browser sent what is not a message", "error", err)
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case m.reply:
		s.respond(&m, lost)
	case lost > 0:
		s.log.Error("an event of the browser was dropped: it is too large", "event", string(m.event), "bytes", lost)
	default:
		s.event(&m)
	}
}

// respond forwards a response. mu is held.
func (s *Server) respond(m *incoming, lost int) {
	c, ok := s.calls[m.id]
	if !ok {
		return // its client has left
	}
	delete(s.calls, m.id)
	if lost > 0 {
		f := &failure{codeServer, fmt.Sprintf("the response is larger than %d bytes", maxIncoming)}
		if c.done != nil {
			c.done <- response{err: f}
		} else {
			c.client.send(failed(&command{id: c.id, hasID: true}, f))
		}
		return
	}
	if c.done == nil {
		c.client.send(m.withID(c.id, m.session == c.client.root))
		return
	}
	var r struct {
		Result json.RawMessage `json:"result"`
		Error  *failure        `json:"error"`
	}
	err := json.Unmarshal(m.text(), &r)
	if err == nil && r.Error != nil {
		err = r.Error
	}
	if err == nil && c.attach {
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
	c.root = id
	if c.left {
		s.detach(c)
		return ErrClosed
	}
	s.sessions[id] = session{client: c}
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
		return "", errors.New("the browser names no session")
	}
	return p.Session, nil
}

// event forwards an event, and keeps track of the sessions. mu is held.
func (s *Server) event(m *incoming) {
	owner, known := s.sessions[m.session]
	if !known && m.session != "" {
		return // of a client that has left
	}
	attached := string(m.event) == "Target.attachedToTarget"
	if attached || string(m.event) == "Target.detachedFromTarget" {
		var e struct {
			Params json.RawMessage `json:"params"`
		}
		err := json.Unmarshal(m.text(), &e)
		var id string
		if err == nil {
			id, err = sessionOf(e.Params)
		}
		switch {
		case err != nil:
			s.log.Warn("the browser sent an event that cannot be read", "event", string(m.event), "error", err)
		case attached && known:
			s.sessions[id] = session{owner.client, m.session}
		case !attached:
			s.forget(id)
		}
	}
	switch {
	case !known: // the server's own
	case m.session == owner.client.root:
		owner.client.send(m.withoutSession()[headroom:])
	default:
		owner.client.send(m.text())
	}
}

// forget removes a session and those that were attached within it. mu is held.
func (s *Server) forget(id string) {
	gone, ok := s.sessions[id]
	if !ok {
		return
	}
	delete(s.sessions, id)
	for inner, other := range s.sessions {
		if other.parent == id {
			s.forget(inner)
		}
	}
	if c := gone.client; c.root == id && !c.left {
		// Chromium sends this to a page's client when the page closes.
		c.send([]byte(`{"method":"Inspector.detached","params":{"reason":"target_closed"}}`))
		c.end(0, "", false)
	}
}
