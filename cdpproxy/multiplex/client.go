package multiplex

import (
	"context"
	"fmt"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/browser"
)

// client is a client's part of the connection.
type client struct {
	downstream browser.Client
	server     *Server
	ctx        context.Context // ends when the client leaves
	cancel     context.CancelFunc
	root       *session // for messages without a session; guarded by Server.mu
}

// session is one that a client owns. Server.mu guards its fields.
type session struct {
	id     string
	client *client
	parent *session            // that it was attached within; nil: the client has no id for it
	inner  map[string]*session // those that were attached within it
	calls  map[int32]struct{}  // its commands without a response yet
}

// maxCommand is the largest message of a client. Chromium exits when a pipe brings
// 100 MiB without the end of a message, so the ids need room below that.
const maxCommand = 100<<20 - 64<<10

// Send implements [browser.Conn]. The command is the client's session's, or of one within
// it.
func (c *client) Send(m browser.Message) bool {
	if len(m.Text) > maxCommand {
		c.downstream.End(uint16(websocket.StatusMessageTooBig),
			fmt.Sprintf("a message of more than %d bytes; Chromium "+
				"takes none", maxCommand))
		return false
	}
	s := c.server
	s.mu.Lock()
	addressed := c.root
	if m.Session != "" {
		addressed = s.sessions[m.Session]
	}
	if addressed == nil || addressed.client != c || m.Session != "" && addressed == c.root {
		s.mu.Unlock()
		m.Session = ""
		c.downstream.Send(m.Response(nil, browser.ErrNoSession))
		return false
	}
	id, open := s.register(call{client: c, session: addressed, id: m.ID})
	s.mu.Unlock()
	m.ID, m.Session = id, addressed.id
	return open && s.write(m, c.ctx.Done())
}

// Close implements [browser.Conn]: it detaches the client's session.
func (c *client) Close() {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c.cancel()
	if c.root != nil && s.sessions[c.root.id] == c.root {
		s.forget(c.root)
		s.detach(c.root.id)
	}
}

// detach makes the browser undo what a client has set up. mu is held.
func (s *Server) detach(session string) {
	id, ok := s.register(call{done: make(chan response, 1)})
	if !ok {
		return
	}
	m := browser.Message{ID: id, Method: "Target.detachFromTarget", Params: []byte(`{"sessionId":"` + session + `"}`)}
	s.running.Go(func() { s.write(m, nil) })
}

// add adds a session. mu is held.
func (s *Server) add(id string, c *client, parent *session) *session {
	added := &session{id: id, client: c, parent: parent, inner: map[string]*session{}, calls: map[int32]struct{}{}}
	s.sessions[id] = added
	if parent != nil {
		parent.inner[id] = added
	}
	return added
}

// forget removes a session and those that were attached within it, with the commands
// that will get no response. mu is held.
func (s *Server) forget(ended *session) {
	for _, inner := range ended.inner {
		s.forget(inner)
	}
	for id := range ended.calls {
		delete(s.calls, id)
	}
	delete(s.sessions, ended.id)
	if ended.parent != nil {
		delete(ended.parent.inner, ended.id)
	} else if c := ended.client; c.ctx.Err() == nil {
		// Chromium sends this to a page's client when the page closes.
		c.downstream.Send([]byte(`{"method":"Inspector.detached","params":{"reason":"target_closed"}}`))
		c.downstream.End(0, "")
	}
}
