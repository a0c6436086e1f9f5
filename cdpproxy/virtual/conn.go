package virtual

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/internal/queue"
)

const (
	dialTimeout  = 5 * time.Second
	writeTimeout = 15 * time.Second
	callTimeout  = 10 * time.Second
	// closeTimeout bounds the wait for the last commands of a connection.
	closeTimeout = time.Second
	// maxPageMessage is what Chromium can buffer for one reader. See
	// specs/platform-notes.md, "Chromium's DevTools server".
	maxPageMessage = 256 << 20
)

// errGone: the page, or the debugger's connection for it, has closed.
//
//lint:ignore ST1005 clients compare it with Chromium's text
var errGone = errors.New("Inspected target navigated or closed")

// outcome is called once, with Browser.mu held.
type outcome func(result jsonv2.Value, err error)

// conn is one connection to a page's shared CDP. Commands may be started before the
// dial. onEvent gets the events, in one order with the responses, with Browser.mu held.
type conn struct {
	browser *Browser
	url     string
	onEvent func(method string, params jsonv2.Value)
	closed  chan struct{} // closed when no message can follow

	// Guarded by Browser.mu.
	nextID   int64
	pending  map[int64]outcome   // nil after the end
	unsent   queue.Queue[[]byte] // commands
	finished bool                // no command follows
}

func (b *Browser) newConn(url string, onEvent func(string, jsonv2.Value)) *conn {
	return &conn{
		browser: b, url: url, onEvent: onEvent,
		closed: make(chan struct{}), pending: map[int64]outcome{},
		unsent: queue.New(maxPageMessage, nil, func(message []byte) int { return len(message) }),
	}
}

// run dials and moves messages until ctx or the connection ends. After finish it
// sends what is unsent, waits for the responses and disconnects.
func (c *conn) run(ctx context.Context) error {
	err := c.dial(ctx)
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	pending := c.pending
	c.pending = nil
	c.unsent.Clear()
	for _, done := range pending {
		done(nil, errGone)
	}
	close(c.closed)
	return err
}

func (c *conn) dial(ctx context.Context) error {
	dialing, cancelDial := context.WithTimeout(ctx, dialTimeout)
	defer cancelDial()
	ws, _, err := websocket.Dial(dialing, c.url, &websocket.DialOptions{HTTPClient: dial.Client(nil)})
	if err != nil {
		return fmt.Errorf("cannot connect to the page: %w", withoutURL(err))
	}
	ws.SetReadLimit(maxPageMessage)
	ctx, cancel := context.WithCancel(ctx)
	read := make(chan error, 1)
	go c.read(ctx, cancel, ws, read)
	err = c.write(ctx, ws)
	if err == nil && ctx.Err() == nil {
		// The debugger handles a message before it sees the close frame that
		// follows.
		ws.Close(websocket.StatusNormalClosure, "")
	}
	cancel()
	ws.CloseNow()
	return errors.Join(err, <-read)
}

// write writes the commands in order, until finish or the end of ctx.
func (c *conn) write(ctx context.Context, ws *websocket.Conn) error {
	for {
		batch, finished := c.next()
		for _, message := range batch {
			// Not the connection's context: a cancelled write closes the connection.
			writing, cancel := context.WithTimeout(context.Background(), writeTimeout)
			err := ws.Write(writing, websocket.MessageText, message)
			cancel()
			if err != nil || ctx.Err() != nil {
				return err
			}
		}
		if len(batch) > 0 {
			continue
		}
		if finished {
			return nil
		}
		select {
		case <-c.unsent.Ready():
		case <-ctx.Done():
			return nil
		}
	}
}

// next returns the commands to write, after those before have been written.
func (c *conn) next() (batch [][]byte, finished bool) {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return c.unsent.Take(math.MaxInt), c.finished
}

// finish ends the connection behind what is unsent.
func (c *conn) finish() {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	c.finished = true
	c.unsent.Wake()
}

// withoutURL keeps the secret in the URL out of logs.
func withoutURL(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if _, more := e.(interface{ Unwrap() error }); !more {
			return e
		}
	}
	return err
}

func (c *conn) read(ctx context.Context, cancel context.CancelFunc, ws *websocket.Conn, ended chan<- error) {
	defer cancel()
	for {
		_, data, err := ws.Read(ctx)
		if err != nil {
			ended <- fmt.Errorf("read from the page: %w", err)
			return
		}
		var m browser.Message
		if err := jsonv2.Unmarshal(data, &m, lenient); err != nil {
			ended <- fmt.Errorf("the page sent an invalid message: %w", err)
			return
		}
		c.browser.mu.Lock()
		c.deliver(&m)
		c.browser.mu.Unlock()
	}
}

// deliver is called with Browser.mu held.
func (c *conn) deliver(m *browser.Message) {
	if m.Method != "" {
		c.onEvent(m.Method, m.Params)
		return
	}
	id, _ := strconv.ParseInt(string(m.ID), 10, 64) // 0 is not pending
	done := c.pending[id]
	delete(c.pending, id)
	switch e := new(browser.Error); {
	case done == nil:
	case len(m.Error) == 0:
		done(m.Result, nil)
	case jsonv2.Unmarshal(m.Error, e, lenient) != nil:
		done(nil, refused(string(m.Error)))
	default:
		done(nil, e)
	}
}

// refusedByPage reports whether an outcome is an error of the page.
func refusedByPage(err error) bool { return errors.As(err, new(*browser.Error)) }

// start sends a command. It does not block; done may be nil. Browser.mu is held.
func (c *conn) start(method string, params jsonv2.Value, done outcome) {
	if done == nil {
		done = func(jsonv2.Value, error) {}
	}
	if c.pending == nil {
		done(nil, errGone)
		return
	}
	if len(params) == 0 {
		params = empty
	}
	c.nextID++
	m := browser.Message{ID: strconv.AppendInt(nil, c.nextID, 10), Method: method, Params: params}
	message := m.Encode()
	if !c.unsent.Fits(len(message)) {
		done(nil, errors.New("the debugger reads too slowly"))
		return
	}
	c.pending[c.nextID] = done
	if !c.finished {
		c.unsent.Push(message)
	}
}

// call sends a command and waits for its response. Browser.mu is not held.
func (c *conn) call(ctx context.Context, method string, params any, result any) error {
	type reply struct {
		result jsonv2.Value
		err    error
	}
	got := make(chan reply, 1)
	c.browser.mu.Lock()
	c.start(method, encode(params), func(result jsonv2.Value, err error) { got <- reply{result, err} })
	c.browser.mu.Unlock()
	select {
	case r := <-got:
		if r.err != nil || result == nil {
			return r.err
		}
		return jsonv2.Unmarshal(r.result, result, lenient)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

// settle waits for the responses to what was sent so far, up to closeTimeout, and
// lets the connection end.
func (c *conn) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	_ = c.call(ctx, "JsDebug.subscribe", subscription{Events: []string{}}, nil)
	c.finish()
}

type subscription struct {
	Events []string `json:"events"`
}
