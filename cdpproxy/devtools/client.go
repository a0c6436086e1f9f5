package devtools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"browser-coordinator/cdpproxy"
)

const (
	// maxCommand is the largest message of a client. Chromium exits when a pipe brings
	// 100 MiB without the end of a message, so the ids need room below that.
	maxCommand = 100<<20 - 64<<10
	// gracePeriod is how long a client may take to read what is queued for it, with
	// the reason for the end of its connection.
	gracePeriod = 2 * time.Second
)

// maxBuffered bounds the bytes that are kept for a client which reads more slowly
// than the browser writes. Tests change it.
var maxBuffered = cdpproxy.MaxBuffered

// Client is one WebSocket connection. Its methods may be called from any goroutine.
type Client struct {
	Name   string // from its User-Agent
	out    *Queue
	ctx    context.Context // ends when the connection must
	cancel context.CancelFunc

	over sync.Once
	code websocket.StatusCode // set by end; 0: no close frame, like Chromium
	why  string
}

func newClient(agent string) *Client {
	c := &Client{out: NewQueue(maxBuffered)}
	c.Name, _ = cdpproxy.GuessName(agent, "")
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Send queues a message for the client.
func (c *Client) Send(message []byte) {
	if !c.out.Put(message) {
		c.end(websocket.StatusPolicyViolation, fmt.Sprintf("this client reads too slowly: more than %d MiB wait for it", maxBuffered>>20), true)
	}
}

// Reply sends the response to a command: the result, or {} without one, or the error.
func (c *Client) Reply(command Message, result jsontext.Value, err error) {
	m := Message{ID: command.ID, Session: command.Session}
	var e *Error
	switch {
	case err == nil && len(result) == 0:
		m.Result = jsontext.Value("{}")
	case err == nil:
		m.Result = result
	default:
		if !errors.As(err, &e) {
			e = &Error{Code: CodeServer, Message: err.Error()}
		}
		m.Error, _ = json.Marshal(e) // of a number, a string and JSON
	}
	c.Send(m.Encode())
}

// End begins the connection's end: the queue is sent, then a close frame if there is
// a code. Only the first call counts.
func (c *Client) End(code websocket.StatusCode, why string) { c.end(code, why, false) }

// end is End. With drop it discards the queue.
func (c *Client) end(code websocket.StatusCode, why string, drop bool) {
	c.over.Do(func() {
		c.code, c.why = code, why
		c.out.Finish(drop)
		// The writer may be stuck in a write that never ends.
		time.AfterFunc(gracePeriod, c.cancel)
	})
}

// serveClient serves the request's WebSocket until it ends. An error of the browser
// is a response over HTTP, as Chromium's.
func (s *Server) serveClient(w http.ResponseWriter, r *http.Request, page string) {
	c := newClient(r.UserAgent())
	defer c.cancel()
	if !s.add(c) {
		return
	}
	defer s.remove(c)
	session, err := s.browser.Join(r.Context(), c, page)
	if err != nil {
		text := err.Error()
		if errors.Is(err, ErrNoTarget) {
			text = noTarget + page
		}
		http.Error(w, text, http.StatusInternalServerError)
		return
	}
	defer session.Leave()
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ws.SetReadLimit(maxCommand)
	defer context.AfterFunc(c.ctx, func() { ws.CloseNow() })()
	var writer sync.WaitGroup
	writer.Go(func() { c.write(ws) })
	c.read(ws, session)
	c.end(0, "", true)
	writer.Wait()
}

// write is the only writer. It closes the connection, which wakes the reader.
func (c *Client) write(ws *websocket.Conn) {
	defer ws.CloseNow()
	err := c.out.Drain(func(message []byte) error {
		// The context never ends: otherwise coder/websocket could close the connection
		// in the middle of a message. The queue's bound detects a client that does not
		// read.
		return ws.Write(context.Background(), websocket.MessageText, message)
	})
	if err == nil && c.code != 0 {
		ws.Close(c.code, c.why)
	}
}

// read forwards the client's commands in order until the connection ends.
func (c *Client) read(ws *websocket.Conn, session Session) {
	for {
		kind, text, err := ws.Read(context.Background())
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			c.end(websocket.StatusUnsupportedData, "CDP is spoken in text frames", true)
			return
		}
		m, wrong := parseCommand(text)
		if wrong != nil {
			m.Session = ""
			c.Reply(m, nil, wrong)
			continue
		}
		session.Receive(m)
	}
}
