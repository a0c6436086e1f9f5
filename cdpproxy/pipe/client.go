package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/discovery"
)

// maxCommand is the largest message of a client. Chromium exits when a pipe brings
// 100 MiB without the end of a message, so the ids need room below that.
const maxCommand = 100<<20 - 64<<10

// gracePeriod is how long a client may take to read what is queued for it, with the
// reason for the end of its connection.
const gracePeriod = 2 * time.Second

// client is one WebSocket connection.
type client struct {
	server *Server
	ws     *websocket.Conn
	out    *queue

	// Guarded by Server.mu.
	root string // the session for messages without a session
	left bool

	over sync.Once
	code websocket.StatusCode // set by end; 0: no close frame, like Chromium
	why  string
}

// serveClient attaches a session to the browser, or to the page with that id, and
// serves the request's WebSocket with it until it ends.
func (s *Server) serveClient(w http.ResponseWriter, r *http.Request, page string) {
	c := &client{server: s, out: newQueue(s.opts.MaxBuffered)}
	defer c.leave()
	var err error
	if page == "" {
		_, err = s.send(r.Context(), call{client: c, attach: true}, "Target.attachToBrowserTarget", struct{}{})
	} else {
		_, err = s.send(r.Context(), call{client: c, attach: true}, "Target.attachToTarget", struct {
			Target  string `json:"targetId"`
			Flatten bool   `json:"flatten"`
		}{page, true})
	}
	var f *failure
	switch {
	case errors.As(err, &f) && page != "":
		discovery.Answer(w, http.StatusInternalServerError, discovery.HTMLType, noTarget+page)
		return
	case err != nil:
		discovery.Answer(w, http.StatusInternalServerError, discovery.HTMLType, err.Error())
		return
	}
	ws, err := accept(w, r)
	if err != nil {
		return
	}
	ws.SetReadLimit(maxCommand)
	s.mu.Lock()
	ended := s.ended
	c.ws = ws
	s.clients[c] = struct{}{}
	s.mu.Unlock()
	if ended {
		ws.CloseNow()
		return
	}
	var writer sync.WaitGroup
	writer.Go(c.write)
	c.read()
	c.leave()
	writer.Wait()
}

// leave detaches the client's session. It may be called again.
func (c *client) leave() {
	c.end(0, "", true)
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.left {
		return
	}
	c.left = true
	delete(s.clients, c)
	for id, call := range s.calls {
		if call.client == c && call.done == nil {
			delete(s.calls, id)
		}
	}
	if _, open := s.sessions[c.root]; open {
		s.forget(c.root)
		s.detach(c)
	}
}

// detach makes the browser undo what the client has set up. mu is held.
func (s *Server) detach(c *client) {
	id, ok := s.registerLocked(call{done: make(chan response, 1)})
	if !ok {
		return
	}
	message := appendCommand(nil, id, "", []byte(`"Target.detachFromTarget"`), []byte(`{"sessionId":"`+c.root+`"}`))
	s.wg.Go(func() {
		if err := s.write(message); err != nil {
			s.log.Debug("detach a client that has left", "error", err)
		}
	})
}

// end begins the connection's end. With drop it discards the queue; else the queue
// is sent. The close frame follows, if there is a code. Only the first call counts.
func (c *client) end(code websocket.StatusCode, why string, drop bool) {
	c.over.Do(func() {
		c.code, c.why = code, why
		c.out.finish(drop)
		if c.ws != nil {
			// The writer may be stuck in a write that never ends.
			time.AfterFunc(gracePeriod, func() { c.ws.CloseNow() })
		}
	})
}

// send queues a message for the client.
func (c *client) send(message []byte) {
	if !c.out.put(message) {
		c.end(websocket.StatusPolicyViolation, fmt.Sprintf("too slow: more than %d MiB wait for this client", c.server.opts.MaxBuffered>>20), true)
	}
}

// write is the only writer. It closes the connection, which wakes the reader.
func (c *client) write() {
	defer c.ws.CloseNow()
	var batch [][]byte
	for {
		if batch = c.out.take(batch); batch == nil {
			break
		}
		for _, message := range batch {
			// The context never ends: otherwise coder/websocket could close the
			// connection in the middle of a message. The queue's bound detects a
			// client that does not read.
			if c.ws.Write(context.Background(), websocket.MessageText, message) != nil {
				return
			}
		}
	}
	if c.code != 0 {
		c.ws.Close(c.code, c.why)
	}
}

// read forwards the client's commands in order until the connection ends.
func (c *client) read() {
	var text []byte
	for {
		kind, r, err := c.ws.Reader(context.Background())
		if err == nil {
			text, err = readInto(text[:0], r)
		}
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			c.end(websocket.StatusUnsupportedData, "CDP is spoken in text frames", true)
			return
		}
		if err := c.forward(text); err != nil {
			return
		}
		if cap(text) > pieceSize {
			text = nil
		}
	}
}

// readInto appends the rest of r to a buffer that doubles.
func readInto(b []byte, r io.Reader) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, max(512, 2*cap(b))), b...)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// forward sends a command to the browser, in the client's session or one within it.
func (c *client) forward(text []byte) error {
	m, f := parseCommand(text)
	if f == nil && !utf8.Valid(text) {
		m, f = command{}, &failure{codeParse, "JSON: invalid string"}
	}
	if f != nil {
		c.send(failed(&m, f))
		return nil
	}
	s := c.server
	s.mu.Lock()
	to := c.root
	known := true
	if m.session != "" {
		var owner session
		owner, known = s.sessions[m.session]
		// The client has no id for its own session, as a connection has none.
		known = known && owner.client == c && m.session != c.root
		to = m.session
	}
	var id int32
	open := true
	if known {
		id, open = s.registerLocked(call{client: c, session: to, id: m.id})
	}
	s.mu.Unlock()
	switch {
	case !open:
		return ErrClosed
	case !known:
		c.send(failed(&m, &failure{codeSession, "Session with given id not found."}))
		return nil
	}
	buf := make([]byte, 0, len(m.method)+len(m.params)+len(to)+64)
	return s.write(appendCommand(buf, id, to, m.method, m.params))
}
