package multiplex

import (
	"fmt"
	"maps"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/browser"
)

// client is a client's part of the connection.
type client struct {
	to     browser.Client
	server *Server
	gone   chan struct{} // closed with left

	// Guarded by Server.mu.
	root string // the session for messages without a session
	left bool
}

// maxCommand is the largest message of a client. Chromium exits when a pipe brings
// 100 MiB without the end of a message, so the ids need room below that.
const maxCommand = 100<<20 - 64<<10

// Send implements [browser.Conn]. The command is the client's session's, or of one within
// it.
func (c *client) Send(message []byte) {
	if len(message) > maxCommand {
		c.to.End(uint16(websocket.StatusMessageTooBig), fmt.Sprintf("a message of more than %d bytes; Chromium takes none", maxCommand))
		return
	}
	m, err := browser.ParseCommand(message)
	if err != nil {
		c.to.Send(m.Response(nil, err))
		return
	}
	s := c.server
	s.mu.Lock()
	sent := call{client: c, session: m.Session, id: m.ID}
	known := true
	if m.Session == "" {
		sent.session = c.root
	} else {
		// The client has no id for its own session, as a connection has none.
		owner, open := s.sessions[m.Session]
		known = open && owner.client == c && m.Session != c.root
	}
	if !known {
		s.mu.Unlock()
		m.Session = ""
		c.to.Send(m.Response(nil, browser.ErrNoSession))
		return
	}
	id, open := s.register(sent)
	s.mu.Unlock()
	if open {
		m.ID, m.Session = id, sent.session
		s.write(m, c.gone)
	}
}

// Close implements [browser.Conn]: it detaches the client's session.
func (c *client) Close() {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c.left = true
	close(c.gone)
	if _, open := s.sessions[c.root]; open {
		s.forget(c.root)
		s.detach(c.root)
	}
}

// detach makes the browser undo what a client has set up. mu is held.
func (s *Server) detach(session string) {
	id, ok := s.register(call{done: make(chan response, 1)})
	if !ok {
		return
	}
	m := browser.Message{ID: id, Method: "Target.detachFromTarget", Params: []byte(`{"sessionId":"` + session + `"}`)}
	s.wg.Go(func() { s.write(m, nil) })
}

// forget removes a session and those that were attached within it, with the commands
// that will get no response. mu is held.
func (s *Server) forget(id string) {
	gone, ok := s.sessions[id]
	if !ok {
		return
	}
	delete(s.sessions, id)
	maps.DeleteFunc(s.calls, func(_ int32, c call) bool { return c.session == id })
	for inner, other := range s.sessions {
		if other.parent == id {
			s.forget(inner)
		}
	}
	if c := gone.client; c.root == id && !c.left {
		// Chromium sends this to a page's client when the page closes.
		c.to.Send([]byte(`{"method":"Inspector.detached","params":{"reason":"target_closed"}}`))
		c.to.End(0, "")
	}
}
