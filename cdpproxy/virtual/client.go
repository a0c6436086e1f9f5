package virtual

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
)

// Close codes, RFC 6455 section 7.4.1.
const (
	closeNormal    = websocket.StatusNormalClosure
	closeGoingAway = websocket.StatusGoingAway
	closePolicy    = websocket.StatusPolicyViolation
)

// maxCommand is Chromium's limit. See specs/platform-notes.md, "Chromium's DevTools
// server".
const maxCommand = 100 << 20

// client is one WebSocket connection. It ends with the connection, with the page if
// it is a page's, or with the browser.
type client struct {
	browser *Browser
	name    string // from its User-Agent
	ws      *websocket.Conn
	out     *queue
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	wg      sync.WaitGroup // the writer, the links and the commands under way
	done    chan struct{}  // closed when the client has released everything

	over sync.Once
	code websocket.StatusCode // set once
	why  string

	// Guarded by Browser.mu.
	sessions map[string]*session // by id, with the connection's own as ""
	seq      int                 // counts them
}

// newClient begins a connection whose own session is of a page, or of the browser
// if t is nil.
func newClient(b *Browser, t *target) *client {
	c := &client{browser: b, out: newQueue(b.opts.MaxBuffered), done: make(chan struct{}), sessions: map[string]*session{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	root := &session{client: c}
	if t != nil {
		root.kind, root.target = ofPage, t
		root.link = newLink(root, t)
	}
	c.sessions[""] = root
	return c
}

// all lists the client's sessions, oldest first. mu is held.
func (c *client) all() []*session {
	all := make([]*session, 0, len(c.sessions))
	for _, s := range c.sessions {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *session) int { return a.seq - b.seq })
	return all
}

// serveClient upgrades the request and serves it until it ends.
func (b *Browser) serveClient(w http.ResponseWriter, r *http.Request, t *target) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ws.SetReadLimit(maxCommand)
	b.mu.Lock()
	if b.ending || t != nil && !t.offered {
		b.mu.Unlock()
		ws.Close(closeGoingAway, "the page has closed")
		return
	}
	c := newClient(b, t)
	c.ws = ws
	c.name, _ = cdpproxy.GuessName(r.UserAgent(), "")
	b.clients[c] = struct{}{}
	b.mu.Unlock()

	c.wg.Add(1)
	go c.write()
	defer c.leave()
	c.read()
}

// end begins the connection's end; the first reason wins.
func (c *client) end(code websocket.StatusCode, why string) {
	c.over.Do(func() {
		c.code, c.why = code, why
		c.out.finish()
	})
}

// leave ends the client's sessions and resets their settings.
func (c *client) leave() {
	c.end(closeNormal, "")
	b := c.browser
	b.mu.Lock()
	c.sessions[""].finish(false)
	delete(b.clients, c)
	b.mu.Unlock()
	c.cancel()
	c.wg.Wait()
	c.ws.CloseNow()
	close(c.done)
}

// write is the only writer. When the connection ends, it sends the queue and the
// close frame, which wakes the reader.
func (c *client) write() {
	defer c.wg.Done()
	for {
		batch := c.out.take(c.ctx)
		if batch == nil {
			break
		}
		for _, message := range batch {
			// Not the client's context: a cancelled write closes the connection
			// without a close frame. The queue's bound detects a client that does
			// not read.
			if err := c.ws.Write(context.Background(), websocket.MessageText, message); err != nil {
				c.end(closeNormal, "")
				c.ws.CloseNow()
				return
			}
		}
	}
	// Close waits for the client's own close frame.
	timer := time.AfterFunc(closeTimeout, func() { c.ws.CloseNow() })
	defer timer.Stop()
	c.ws.Close(c.code, c.why)
}

// send queues a message for the client.
func (c *client) send(message []byte) {
	if err := c.out.put(message); err != nil {
		c.end(closePolicy, "this client reads too slowly: no more is kept for it, and nothing is dropped silently")
		// The writer may be stuck in a write that never ends.
		time.AfterFunc(closeTimeout, func() { c.ws.CloseNow() })
	}
}

func (c *client) event(s *session, method string, params json.Value) {
	c.send(eventMessage(s.id, method, params))
}

func (c *client) reply(s *session, id json.Value, result json.Value, err error) {
	var f *failure
	var p *pageError
	switch {
	case err == nil:
		if len(result) == 0 {
			result = empty
		}
		c.send(replyMessage(id, s.id, "result", result))
	case errors.As(err, &p):
		c.send(replyMessage(id, s.id, "error", p.raw))
	case errors.As(err, &f):
		c.send(replyMessage(id, s.id, "error", encode(f)))
	case errors.Is(err, errGone):
		c.send(replyMessage(id, s.id, "error", encode(refused("Inspected target navigated or closed"))))
	default:
		c.send(replyMessage(id, s.id, "error", encode(refused(err.Error()))))
	}
}

// read reads the client's commands in order until the connection ends.
func (c *client) read() {
	for {
		kind, data, err := c.ws.Read(c.ctx)
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			c.end(websocket.StatusUnsupportedData, "CDP is spoken in text frames")
			return
		}
		c.receive(data)
	}
}

func (c *client) receive(data []byte) {
	var m command
	own := &session{client: c}
	if err := json.Unmarshal(data, &m, lenient); err != nil {
		c.reply(own, json.Value("null"), nil, &failure{codeParse, "JSON: " + err.Error()})
		return
	}
	if !isInteger(m.ID) {
		c.reply(own, json.Value("null"), nil, &failure{codeRequest, "Message must have integer 'id' property"})
		return
	}
	if m.Method == "" {
		c.reply(own, m.ID, nil, &failure{codeRequest, "Message must have string 'method' property"})
		return
	}
	b := c.browser
	b.mu.Lock()
	s := c.sessions[m.Session]
	if s == nil {
		b.mu.Unlock()
		c.reply(own, m.ID, nil, &failure{codeSession, "Session with given id not found."})
		return
	}
	link := s.link
	b.mu.Unlock()
	if link != nil {
		// Back-pressure: a client cannot get further ahead of its page.
		link.room()
	}
	s.command(m, link)
}
