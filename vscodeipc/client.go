package vscodeipc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

// requestTime is the deadline of a dial and of each request that does not wait
// for a human (spec 9).
const requestTime = 5 * time.Second

// eventRoom is how many events may wait for the program that listens: more than
// a whole replay.
const eventRoom = 2 * maxHistory

// DialOptions are the options of Dial; nil means the defaults.
type DialOptions struct {
	Client Peer // how this program calls itself; default "vscodeipc"
	Logger *slog.Logger

	// connect replaces the system's sockets in tests of time.
	connect func(context.Context, Address) (net.Conn, error)
}

// Client is one connection to a window. Its methods may be called from any
// goroutine, with any number of requests in flight.
type Client struct {
	conn  net.Conn
	try   func([]byte) int // writes what can be written at once
	log   *slog.Logger
	hello Hello
	turn  chan struct{} // holds the token of whoever may write
	done  chan struct{} // closed when the connection has ended
	ended sync.WaitGroup

	events chan Event

	// mu guards what follows.
	mu      sync.Mutex
	next    int64
	waiting map[int64]chan<- answer
	err     error // why the connection ended
}

type answer struct {
	payload json.RawMessage
	fault   *Error
}

// Dial connects to a window and says hello. It checks before that the address
// is the user's own, and then that the peer is (spec 9). Without a deadline in
// the context it takes 5 s at most.
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
		options.connect = connect
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
		conn: conn, try: tryWriter(conn), log: options.Logger,
		turn: make(chan struct{}, 1), done: make(chan struct{}),
		events: make(chan Event, eventRoom), waiting: map[int64]chan<- answer{},
	}
	c.ended.Add(1)
	go c.readLoop()
	err = c.request(ctx, 0, "hello", helloRequest{options.Client, supported}, &c.hello)
	if err == nil {
		err = c.hello.check()
	}
	if err != nil {
		c.Close()
		return nil, helloFault(err)
	}
	return c, nil
}

// helloFault marks the faults of a peer that is there but cannot be talked to.
func helloFault(err error) error {
	var fault *Error
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &fault) && fault.Code == CodeUnsupportedVersion:
		return fmt.Errorf("%w: this program speaks the versions %v: %w", ErrIncompatible, supported, err)
	case errors.As(err, &fault), errors.As(err, &syntax), errors.As(err, &kind):
		return fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	return err
}

// check finds a hello that is none.
func (h *Hello) check() error {
	switch {
	case h.Version != Version:
		return fmt.Errorf("%w: it chose version %d, which was not asked for", ErrIncompatible, h.Version)
	case h.Session == "" || h.PID <= 0 || h.Server.Name == "":
		return fmt.Errorf("%w: its hello lacks session, pid or server", ErrIncompatible)
	}
	h.State = h.State.normal()
	return nil
}

// Hello gives what the window said of itself when it was dialed.
func (c *Client) Hello() Hello { return c.hello }

// Ping asks for a sign of life.
func (c *Client) Ping(ctx context.Context) error {
	return c.request(ctx, requestTime, "ping", nil, nil)
}

// State asks for the window's state.
func (c *Client) State(ctx context.Context) (StateAnswer, error) {
	var a StateAnswer
	err := c.request(ctx, requestTime, "state", nil, &a)
	a.State = a.State.normal()
	return a, err
}

// Call runs one of the window's commands and stores its result in the value
// that result points to, unless that is nil. It has no deadline but the
// context's, since a human may have to answer; when the context ends, the
// window is told to give up.
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
	if err := json.Unmarshal(a.Result, result); err != nil {
		return fmt.Errorf("call %s: decode its result: %w", command, err)
	}
	return nil
}

// Listen subscribes to events; none named means "state". What comes after the
// answer, and with a granted resume what was missed, arrives in order on the
// channel, which is the same for every Listen of the client and is closed when
// the connection ends. A program that leaves hundreds of events unread loses
// the connection.
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
			*a.State = a.State.normal()
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

// Err tells why the connection ended: a [ByeError] where the window said why,
// [ErrClosed] after Close, nil while it lives.
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

// fail ends the connection; the first reason counts.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		c.conn.Close()
		close(c.done)
	}
}

// request sends one request and waits for its answer, for at most limit (if that
// is not 0) where the context has no deadline.
func (c *Client) request(ctx context.Context, limit time.Duration, kind string, payload, result any) error {
	var late <-chan time.Time
	if _, given := ctx.Deadline(); !given && limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	c.mu.Lock()
	c.next++
	n := c.next
	reply := make(chan answer, 1)
	c.waiting[n] = reply
	c.mu.Unlock()
	defer c.forget(n)

	line, err := encodeRequest(n, kind, payload)
	if err != nil {
		return err
	}
	if err := c.write(ctx, line); err != nil {
		return err
	}
	select {
	case a := <-reply:
		return a.into(result)
	case <-c.done:
		select {
		case a := <-reply: // it came just before the end
			return a.into(result)
		default:
			return fmt.Errorf("the connection ended: %w", c.Err())
		}
	case <-late:
		c.giveUp(n)
		return fmt.Errorf("wait for the window's answer to %s: %w", kind, context.DeadlineExceeded)
	case <-ctx.Done():
		c.giveUp(n)
		return fmt.Errorf("wait for the window's answer to %s: %w", kind, ctx.Err())
	}
}

func (a answer) into(result any) error {
	if a.fault != nil {
		return a.fault
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.payload, result); err != nil {
		return fmt.Errorf("read the window's answer: %w", err)
	}
	return nil
}

func (c *Client) forget(n int64) {
	c.mu.Lock()
	delete(c.waiting, n)
	c.mu.Unlock()
}

// giveUp tells the window that an answer is wanted no more. The answer to this
// is not waited for; it finds nobody.
func (c *Client) giveUp(n int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	c.mu.Lock()
	c.next++
	own := c.next
	c.mu.Unlock()
	if line, err := encodeRequest(own, "cancel", cancelRequest{intID(n)}); err == nil {
		c.write(ctx, line) // the connection is over anyway if this fails
	}
}

// write sends one line whole. A line that could be sent in part only ends the
// connection, since what follows would be read as its rest.
func (c *Client) write(ctx context.Context, line []byte) error {
	select {
	case c.turn <- struct{}{}:
	case <-c.done:
		return fmt.Errorf("the connection ended: %w", c.Err())
	case <-ctx.Done():
		return fmt.Errorf("wait to write to the window: %w", ctx.Err())
	}
	defer func() { <-c.turn }()
	line = line[c.try(line):]
	if len(line) == 0 {
		return nil
	}
	limit := time.Now().Add(requestTime)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(limit) {
		limit = deadline
	}
	c.conn.SetWriteDeadline(limit)
	if _, err := c.conn.Write(line); err != nil {
		// The window may have said why before it hung up: that counts more.
		if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
			c.fail(fmt.Errorf("write to the window: %w", err))
		}
		return fmt.Errorf("write to the window: %w", c.reason(err))
	}
	return nil
}

// reason waits for the read loop, which reads the window's last words, and gives
// those; err if there are none.
func (c *Client) reason(err error) error {
	select {
	case <-c.done:
		return c.Err()
	case <-time.After(100 * time.Millisecond):
		c.fail(err)
		return err
	}
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// readLoop is owned by the client and ends with the connection.
func (c *Client) readLoop() {
	defer c.ended.Done()
	defer close(c.events)
	lines := newLineReader(c.conn)
	for {
		line, err := lines.next()
		if err == nil {
			err = c.receive(line)
		}
		if err != nil {
			switch {
			case errors.Is(err, io.EOF):
				err = errors.New("the window hung up")
			case errors.Is(err, errTooLarge):
				err = fmt.Errorf("%w: %w", ErrIncompatible, err)
			}
			c.fail(err)
			return
		}
	}
}

// receive acts on one line, which is used again for the next. An error ends the
// connection.
func (c *Client) receive(line []byte) error {
	e, ok := scanEnvelope(line)
	if !ok {
		return fmt.Errorf("%w: it sent what is not a JSON object", ErrIncompatible)
	}
	if e.success != nil {
		return c.receiveAnswer(e)
	}
	event, err := decodeEvent(e)
	if err != nil {
		return err
	}
	if event.Type == "bye" {
		var last bye
		if err := json.Unmarshal(e.payload, &last); err != nil {
			return fmt.Errorf("%w: it sent a bye without a reason: %w", ErrIncompatible, err)
		}
		return &ByeError{last.Reason, last.Message}
	}
	select {
	case c.events <- event:
		return nil
	default:
		return fmt.Errorf("this program left %d events unread", eventRoom)
	}
}

func decodeEvent(e envelope) (Event, error) {
	kind, ok := decodeString(e.kind)
	if !ok || kind == "" {
		return Event{}, fmt.Errorf("%w: it sent a line that is neither a response nor an event", ErrIncompatible)
	}
	event := Event{Type: kind, Payload: bytes.Clone(e.payload)}
	if e.seq != nil {
		if event.Seq, ok = decodeInteger(e.seq, 1); !ok {
			return Event{}, fmt.Errorf("%w: it sent an event whose seq is no number", ErrIncompatible)
		}
	}
	return event, nil
}

func (c *Client) receiveAnswer(e envelope) error {
	var a answer
	switch string(e.success) {
	case "true":
		a.payload = bytes.Clone(e.payload)
	case "false":
		a.fault = &Error{}
		if err := json.Unmarshal(e.fault, a.fault); err != nil || a.fault.Code == "" {
			return fmt.Errorf("%w: it sent a failure without an error", ErrIncompatible)
		}
	default:
		return fmt.Errorf("%w: it sent a response whose success is neither true nor false", ErrIncompatible)
	}
	n, ok := decodeInteger(e.id, 0)
	if !ok {
		// An answer to no request: the fault concerns the connection.
		if a.fault != nil {
			c.log.Warn("window could not read a request", "error", a.fault)
			return nil
		}
		return fmt.Errorf("%w: it sent a response without an id", ErrIncompatible)
	}
	c.mu.Lock()
	reply := c.waiting[n]
	delete(c.waiting, n)
	c.mu.Unlock()
	if reply == nil {
		c.log.Debug("window answers a request that nobody waits for", "id", n)
		return nil
	}
	reply <- a // has room for the one answer
	return nil
}
