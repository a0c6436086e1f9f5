package pipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/devtools"
)

const (
	pieceSize = 256 << 10 // that is read at once
	// kept is how much remains of a message that is too large: enough to find its
	// client.
	kept = 256
)

// maxIncoming is the largest message of the browser that is forwarded. A debugging
// port drops larger ones as well. Tests change it before they serve.
var maxIncoming = cdpproxy.DefaultMaxBuffered

// read is the only reader of the pipe. Nothing that it calls waits for a client.
func (s *Server) read() {
	defer s.end()
	piece := make([]byte, pieceSize)
	var open []byte // the incomplete message
	var lost int    // bytes that were cut off its end
	for {
		n, err := s.in.Read(piece)
		for rest := piece[:n]; len(rest) > 0; {
			part, after, whole := bytes.Cut(rest, []byte{0})
			rest = after
			if lost > 0 {
				lost += len(part)
			} else {
				if len(open)+len(part) > cap(open) {
					open = slices.Grow(open, max(len(part), len(open)))
				}
				open = append(open, part...)
				if len(open) > s.largest {
					open, lost = bytes.Clone(open[:kept]), len(open)-kept
				}
			}
			if whole {
				s.route(open, lost)
				open, lost = nil, 0
			}
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
func (s *Server) route(text []byte, lost int) {
	m, err := parse(text)
	if err != nil {
		s.log.Warn("the browser sent what is not a message", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case m.reply:
		s.respond(&m, lost)
	case lost > 0:
		s.log.Error("an event of the browser was dropped: it is too large", "event", m.event, "bytes", lost)
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
	var err error
	if lost > 0 {
		err = &devtools.Error{Code: devtools.CodeServer, Message: fmt.Sprintf("the response is larger than %d bytes", s.largest)}
	}
	switch {
	case c.done == nil && err != nil:
		c.client.Reply(devtools.Message{ID: c.id}, nil, err)
	case c.done == nil:
		c.client.Send(m.withID(c.id, m.session != c.client.root))
	default:
		var r struct {
			Result json.RawMessage `json:"result"`
			Error  *devtools.Error `json:"error"`
		}
		if err == nil {
			err = json.Unmarshal(m.text, &r)
		}
		if err == nil && r.Error != nil {
			err = r.Error
		}
		if err == nil && c.client != nil {
			err = s.attached(c.client, r.Result)
		}
		c.done <- response{r.Result, err}
	}
}

// attached gives a client the session that was attached for it. mu is held.
func (s *Server) attached(c *client, result json.RawMessage) error {
	id, err := sessionOf(result)
	if err != nil {
		return err
	}
	c.root = id
	if c.left {
		s.detach(id)
		return errClosed
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
		case attached && known:
			s.sessions[id] = session{owner.client, m.session}
		case !attached:
			s.forget(id)
		}
	}
	switch {
	case !known: // the server's own
	case m.session == owner.client.root:
		owner.client.Send(m.withoutSession())
	default:
		owner.client.Send(m.text)
	}
}
