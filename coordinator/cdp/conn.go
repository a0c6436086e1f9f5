package cdp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/dial"
)

// Options of a connection; the zero value and nil are good defaults.
type Options struct {
	Logger      *slog.Logger  // nil discards
	Header      http.Header   // sent with the discovery and the handshake
	QueueSize   int           // events that a subscription may hold unread; 0 means 4096
	CallTimeout time.Duration // of calls whose context has no deadline; 0 means 30 s
}

const (
	defaultQueueSize   = 4096
	defaultCallTimeout = 30 * time.Second
	readLimit          = 256 << 20 // the largest message that Chromium can hold
	dialTimeout        = 10 * time.Second
	// writeTimeout bounds one write: a browser that reads nothing for that long does not
	// recover.
	writeTimeout = 15 * time.Second
	// writeQueue is how many commands may wait for the writer before callers block.
	writeQueue = 64
)

func (o *Options) withDefaults() Options {
	c := *cmp.Or(o, &Options{})
	c.QueueSize = cmp.Or(c.QueueSize, defaultQueueSize)
	c.CallTimeout = cmp.Or(c.CallTimeout, defaultCallTimeout)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Conn is one connection to a browser. It is itself the browser-level session.
// All methods may be called from any goroutine.
type Conn struct {
	opts Options
	url  string
	ws   *websocket.Conn

	root   *Session           // the session without an id; it ends with the connection
	out    chan []byte        // commands for the writer
	cancel context.CancelFunc // ends reader and writer
	loops  sync.WaitGroup     // both
	lastID atomic.Int64       // of a command

	// mu guards the fields that follow. It is never held while waiting for a channel.
	mu       sync.Mutex
	pending  map[int64]*Pending
	sessions map[target.SessionID]*Session
	subs     map[*Subscription]struct{}
	err      error // why the connection ended; nil while it lives
}

// Dial connects to a browser: endpoint is a browser-level ws URL, or an http URL
// whose /json/version names it.
func Dial(ctx context.Context, endpoint string, opts *Options) (*Conn, error) {
	o := opts.withDefaults()
	ctx, cancelDial := context.WithTimeout(ctx, dialTimeout)
	defer cancelDial()

	options := &dial.Options{Timeout: dialTimeout, Header: o.Header}
	wsURL, err := Resolve(ctx, options, endpoint)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the browser: %w", err)
	}
	ws, _, err := websocket.Dial(ctx, wsURL, &websocket.DialOptions{HTTPClient: dial.Client(options),
		HTTPHeader: o.Header})
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the browser: %w", err)
	}
	ws.SetReadLimit(readLimit)

	run, cancel := context.WithCancel(context.Background())
	c := &Conn{
		opts: o, url: wsURL, ws: ws,
		out: make(chan []byte, writeQueue), cancel: cancel,
		pending:  map[int64]*Pending{},
		sessions: map[target.SessionID]*Session{},
		subs:     map[*Subscription]struct{}{},
	}
	c.root = &Session{conn: c, done: make(chan struct{})}
	c.loops.Go(func() { c.readLoop(run) })
	c.loops.Go(func() { c.writeLoop(run) })
	return c, nil
}

// URL returns the WebSocket address that was dialled.
func (c *Conn) URL() string { return c.url }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.root.Done() }

// Err returns why the connection ended; nil while it lives. It wraps ErrClosed.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection, fails open calls with ErrClosed and waits for its
// goroutines. The browser and its tabs stay.
func (c *Conn) Close() error { return c.CloseFor(errors.New("this program closed it")) }

// CloseFor is Close for a reason, which Err and the errors of open calls wrap.
func (c *Conn) CloseFor(reason error) error {
	c.end(fmt.Errorf("%w: %w", ErrClosed, reason))
	c.loops.Wait()
	return nil
}

// end is the only function that ends a connection.
func (c *Conn) end(reason error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = reason
	pending, subs, sessions := c.pending, c.subs, c.sessions
	c.pending, c.subs, c.sessions = nil, nil, nil
	for _, p := range pending {
		p.finish(reply{err: reason})
	}
	for s := range subs {
		s.stop(reason)
	}
	for _, s := range sessions {
		s.stop(reason)
	}
	c.root.stop(reason)
	c.mu.Unlock()
	c.cancel()
	// CloseNow: Chromium sends no close frame when it ends, and waiting for one would make
	// every exit as slow as a hanging browser.
	if err := c.ws.CloseNow(); err != nil {
		c.opts.Logger.Debug("cdp: close the socket", "err", err)
	}
}

// writeLoop is the only writer: coder/websocket closes a connection whose
// write context ends, so no caller's context may reach it.
func (c *Conn) writeLoop(run context.Context) {
	for {
		select {
		case <-run.Done():
			return
		case message := <-c.out:
			ctx, cancel := context.WithTimeout(run, writeTimeout)
			err := c.ws.Write(ctx, websocket.MessageText, message)
			cancel()
			if err != nil {
				c.end(fmt.Errorf("%w: write to the browser: %w", ErrClosed, err))
				return
			}
		}
	}
}

// envelope is a message from the browser: a reply has an id, an event a method.
type envelope struct {
	ID        int64            `json:"id"`
	SessionID target.SessionID `json:"sessionId"`
	Method    string           `json:"method"`
	Params    jsonv2.Value     `json:"params"`
	Result    jsonv2.Value     `json:"result"`
	Error     *struct {
		Code    int64        `json:"code"`
		Message string       `json:"message"`
		Data    jsonv2.Value `json:"data"`
	} `json:"error"`
}

// lenient accepts lone surrogates, which page text may hold.
var lenient = jsonv2.AllowInvalidUTF8(true)

// readLoop is the only reader; nothing it calls blocks on a consumer.
func (c *Conn) readLoop(run context.Context) {
	for {
		_, data, err := c.ws.Read(run)
		if err != nil {
			c.end(readError(err))
			return
		}
		var m envelope
		if err := jsonv2.Unmarshal(data, &m, lenient); err != nil {
			c.end(fmt.Errorf("%w: the browser sent something that is not JSON", ErrClosed))
			return
		}
		if m.Method != "" {
			c.event(Event{SessionID: m.SessionID, Method: m.Method, Params: m.Params})
			continue
		}
		c.answer(&m)
	}
}

func readError(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the browser has gone", ErrClosed)
	}
	return fmt.Errorf("%w: %w", ErrClosed, err)
}
