package vscodeipc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"browser-coordinator/vscodeipc/internal/socket"
)

// requestTime is the deadline of a dial and of each request that does not wait
// for the user (spec 9).
const requestTime = 5 * time.Second

// eventRoom is the room for unread events: more than a whole replay.
const eventRoom = 2 * maxHistory

// DialOptions are the options of Dial; nil means the defaults.
type DialOptions struct {
	Client Peer // the name that this program sends; default "vscodeipc"
	Logger *slog.Logger

	// connect replaces the system's sockets in tests with a fake clock.
	connect func(context.Context, Address) (net.Conn, error)
}

// Client is one connection to a window. Its methods may be called from any
// goroutine, with any number of requests in flight.
type Client struct {
	conn  net.Conn
	try   func([]byte) int // writes what can be written at once
	log   *slog.Logger
	hello Hello
	// version is the protocol version of the requests. The hello sets it before the
	// client is shared.
	version int
	turn    chan struct{} // holds the token of the goroutine that may write
	done    chan struct{} // closed when the connection has ended
	ended   sync.WaitGroup

	events chan Event

	// mu guards the fields that follow.
	mu      sync.Mutex
	next    int64
	waiting map[int64]*waiter

	waiters sync.Pool // of unused ones
	err     error     // why the connection ended
}

type answer struct {
	payload json.RawMessage
	fault   *Error
	ended   error // in place of a response: why there will be none
}

// Dial connects to a window and sends its hello. It first checks that the address
// belongs to the user, and then that the peer does (spec 9). Without a deadline in the
// context it takes 5 s at most.
func Dial(ctx context.Context, a Address, o *DialOptions) (*Client, error) {
	c, err := dial(ctx, a, o)
	if err != nil {
		return nil, fmt.Errorf("dial the window at %s: %w", a, err)
	}
	return c, nil
}

func dial(ctx context.Context, a Address, o *DialOptions) (*Client, error) {
	var options DialOptions
	if o != nil {
		options = *o
	}
	if options.Client.Name == "" {
		options.Client.Name = "vscodeipc"
	}
	if options.Logger == nil {
		options.Logger = discard
	}
	if options.connect == nil {
		options.connect = socket.Connect
	}
	if _, given := ctx.Deadline(); !given {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, requestTime)
		defer cancel()
	}
	conn, err := options.connect(ctx, a)
	if err != nil {
		return nil, err
	}
	c := &Client{
		conn: conn, try: socket.TryWriter(conn), log: options.Logger, version: lowest,
		turn: make(chan struct{}, 1), done: make(chan struct{}),
		events: make(chan Event, eventRoom), waiting: map[int64]*waiter{}, waiters: sync.Pool{New: newWaiter},
	}
	c.ended.Add(1)
	go c.readLoop()
	err = c.request(ctx, 0, "hello", helloRequest{options.Client, supported}, &c.hello)
	if err == nil {
		err = c.hello.check(a)
		c.version = c.hello.Version
	}
	if err != nil {
		c.Close()
		return nil, helloFault(err)
	}
	return c, nil
}

// helloFault marks the errors of a peer that responds but is incompatible.
func helloFault(err error) error {
	var fault *Error
	switch {
	case errors.As(err, &fault) && fault.Code == CodeUnsupportedVersion:
		return fmt.Errorf("%w: this program speaks the versions %v: %w", ErrIncompatible, supported, err)
	case errors.As(err, &fault):
		return fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	return err
}

// check refuses a hello that the client cannot use, or that is not from the window at
// this address.
func (h *Hello) check(a Address) error {
	switch {
	case !slices.Contains(supported, h.Version):
		return fmt.Errorf("%w: it chose version %d, which was not asked for", ErrIncompatible, h.Version)
	case h.Session == "" || h.PID <= 0 || h.Server.Name == "":
		return fmt.Errorf("%w: its hello lacks session, pid or server", ErrIncompatible)
	}
	if err := h.fits(a); err != nil {
		return err
	}
	return h.State.accept()
}

// Hello returns the hello that the window sent when it was dialed.
func (c *Client) Hello() Hello { return c.hello }

// Ping checks that the window responds.
func (c *Client) Ping(ctx context.Context) error {
	return c.request(ctx, requestTime, "ping", nil, nil)
}

// State requests the window's state.
func (c *Client) State(ctx context.Context) (StateAnswer, error) {
	var a StateAnswer
	err := c.request(ctx, requestTime, "state", nil, &a)
	if err == nil {
		err = a.State.accept()
	}
	return a, err
}

// Call runs one of the window's commands and stores its result in the value that result
// points to, unless result is nil. Its only deadline is the context's, since the user
// may have to answer. When the context ends, the call is also cancelled in the window.
func (c *Client) Call(ctx context.Context, command string, arg, result any) error {
	request := callRequest{Command: command}
	if arg != nil {
		raw, err := json.Marshal(arg)
		if err != nil {
			return fmt.Errorf("call %s: encode its argument: %w", command, err)
		}
		request.Arg = raw
	}
	var a callAnswer
	if err := c.request(ctx, 0, "call", request, &a); err != nil {
		return fmt.Errorf("call %s: %w", command, err)
	}
	if result == nil {
		return nil
	}
	if err := decodeStrict(a.Result, result); err != nil {
		return fmt.Errorf("call %s: decode its result: %w", command, err)
	}
	return nil
}

// Listen subscribes to events; without names, to "state". All Listen calls of a client
// return the same channel. Its events arrive in order: after a granted resume the missed
// ones, then all after the response. The channel is closed when the connection ends. A
// program that leaves hundreds of events unread loses the connection.
func (c *Client) Listen(ctx context.Context, resume *Resume, events ...string) (ListenAnswer, <-chan Event, error) {
	if len(events) == 0 {
		events = []string{"state"}
	}
	var a ListenAnswer
	err := c.request(ctx, requestTime, "listen", listenRequest{events, resume}, &a)
	if err == nil && !a.Resumed {
		if a.State == nil {
			err = fmt.Errorf("%w: it answered listen without a state", ErrIncompatible)
		} else {
			err = a.State.accept()
		}
	}
	if err != nil {
		return a, nil, fmt.Errorf("listen to the window: %w", err)
	}
	return a, c.events, nil
}

// Unlisten ends subscriptions.
func (c *Client) Unlisten(ctx context.Context, events ...string) error {
	return c.request(ctx, requestTime, "unlisten", unlistenRequest{events}, nil)
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended: a [ByeError] if the window sent a reason,
// [ErrClosed] after Close, nil while it is open.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection and waits for its goroutine.
func (c *Client) Close() error {
	c.fail(ErrClosed)
	c.ended.Wait()
	return nil
}

// fail ends the connection; the first reason is kept.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		c.conn.Close()
		close(c.done)
		for _, w := range c.waiting {
			w.answer <- answer{ended: err}
		}
		clear(c.waiting)
	}
}
