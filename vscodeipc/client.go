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

// eventRoom is the room for unread events.
const eventRoom = 512

// DialOptions are the options of a client.
type DialOptions struct {
	Client Peer // the name that this program sends; default "vscodeipc"
	Logger *slog.Logger

	// connect replaces the system's sockets in tests with a fake clock.
	connect func(context.Context, Address) (net.Conn, error)
}

// client is one connection to a window. Its methods may be called from any
// goroutine, with any number of requests in flight.
type client struct {
	conn  net.Conn
	out   *outbox
	log   *slog.Logger
	hello Hello
	// events holds the window's events in order. It is closed when the connection ends. A
	// reader that leaves hundreds of them unread loses the connection.
	events chan event
	loops  sync.WaitGroup

	// mu guards the fields that follow.
	mu      sync.Mutex
	next    int64
	waiting map[int64]chan answer
	err     error // why the connection ended
}

// ErrSilent reports a window that takes connections, but did not answer in time.
var ErrSilent error = silentError{}

type silentError struct{}

func (silentError) Error() string { return "no answer in time: its program is stopped or busy" }

// Is makes it a deadline that was exceeded, too.
func (silentError) Is(target error) bool { return target == context.DeadlineExceeded }

// answer is a response without its id.
type answer struct {
	payload json.RawMessage
	fault   *Error
}

// dial connects to a window and sends its hello. It first checks that the address
// belongs to the user, and then that the peer does (spec 9). Without a deadline in the
// context it takes 5 s at most.
func dial(ctx context.Context, a Address, o DialOptions) (*client, error) {
	if o.Client.Name == "" {
		o.Client.Name = "vscodeipc"
	}
	if o.Logger == nil {
		o.Logger = discard
	}
	if o.connect == nil {
		o.connect = socket.Connect
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, requestTime)
		defer cancel()
	}
	conn, err := o.connect(ctx, a)
	if err != nil {
		return nil, err
	}
	c := &client{
		conn: conn, out: newOutbox(conn, nil), log: o.Logger,
		events: make(chan event, eventRoom), waiting: map[int64]chan answer{},
	}
	c.loops.Add(2)
	go c.readLoop()
	go c.writeLoop()
	err = c.request(ctx, "hello", helloRequest{o.Client}, &c.hello)
	if err == nil {
		err = c.hello.check(a)
	}
	if err != nil {
		c.close()
		return nil, helloFault(err)
	}
	return c, nil
}

// helloFault marks the errors of a peer that responds but is incompatible.
func helloFault(err error) error {
	var fault *Error
	switch {
	case errors.As(err, &fault) && fault.Code == codeUnsupportedVersion:
		return errVersion(fault)
	case errors.As(err, &fault):
		return fmt.Errorf("%w: %w", errIncompatible, err)
	}
	return err
}

// errVersion reports a window of another protocol version, and which side to update.
func errVersion(fault *Error) error {
	var data struct{ Supported []int }
	if json.Unmarshal(fault.Data, &data) != nil || len(data.Supported) == 0 {
		return fmt.Errorf("%w: it does not speak version %d of the window protocol: %w", errIncompatible, version,
			fault)
	}
	older := "the window (in an editor: its extension)"
	if slices.Max(data.Supported) > version {
		older = "this program"
	}
	return fmt.Errorf("%w: it speaks version %d of the window protocol and this program version %d; update %s",
		errIncompatible, slices.Max(data.Supported), version, older)
}

// check refuses a hello that the client cannot use, or that is not from the window at
// this address.
func (h *Hello) check(a Address) error {
	if h.Version != version {
		return fmt.Errorf("%w: its hello has version %d of the window protocol, the request had %d", errIncompatible,
			h.Version, version)
	}
	if err := h.fits(a); err != nil {
		return err
	}
	return h.State.accept()
}

// call runs one of the window's commands and stores its result in the value that result
// points to, unless result is nil. Its only deadline is the context's, since the user
// may have to answer. When the context ends, the call is also cancelled in the window.
func (c *client) call(ctx context.Context, command string, arg, result any) error {
	request := callRequest{Command: command}
	if arg != nil {
		raw, err := json.Marshal(arg)
		if err != nil {
			return fmt.Errorf("call %s: encode its argument: %w", command, err)
		}
		request.Arg = raw
	}
	var a callAnswer
	if err := c.request(ctx, "call", request, &a); err != nil {
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

// subscribe is dial with a subscription, which everybody needs who uses a window. The hello
// has the state that the first event changes.
func subscribe(ctx context.Context, a Address, o DialOptions) (*client, error) {
	c, err := dial(ctx, a, o)
	if err != nil {
		return nil, err
	}
	first, err := c.listen(ctx)
	if err != nil {
		c.close()
		return nil, helloFault(err)
	}
	c.hello.Seq, c.hello.State = first.Seq, first.State
	return c, nil
}

// listen subscribes to the window's state. All events after that of the response follow.
func (c *client) listen(ctx context.Context) (stateAnswer, error) {
	var a stateAnswer
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	err := c.request(ctx, "listen", listenRequest{[]string{"state"}}, &a)
	if err == nil {
		err = a.State.accept()
	}
	if err != nil {
		return a, fmt.Errorf("listen to the window: %w", err)
	}
	return a, nil
}

// request sends one request and waits for its response. An abandoned request is cancelled
// in the window.
func (c *client) request(ctx context.Context, kind string, payload, result any) error {
	n, response, err := c.expect()
	if err != nil {
		return err
	}
	line, err := encodeRequest(n, kind, payload)
	if err != nil {
		c.forget(n)
		return err
	}
	c.out.send(line)
	select {
	case a, ok := <-response:
		if !ok {
			return c.endError()
		}
		return a.decode(result)
	case <-ctx.Done():
		if err = ctx.Err(); err == context.DeadlineExceeded {
			err = ErrSilent
		}
	}
	c.forget(n)
	if line, err := encodeRequest(c.number(), "cancel", cancelRequest{intID(n)}); err == nil {
		c.out.send(line) // its response is not awaited
	}
	return fmt.Errorf("wait for the window's answer to %s: %w", kind, err)
}

// expect assigns a request its number, and the channel for its response, which closes
// when the connection ends.
func (c *client) expect() (int64, <-chan answer, error) {
	n, response := c.number(), make(chan answer, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, fmt.Errorf("the connection ended: %w", c.err)
	}
	c.waiting[n] = response
	return n, response, nil
}

func (c *client) number() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	return c.next
}

func (c *client) forget(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, n)
}

func (a answer) decode(result any) error {
	if a.fault != nil {
		return a.fault
	}
	if result == nil {
		return nil
	}
	if err := decodeStrict(a.payload, result); err != nil {
		return fmt.Errorf("read the window's answer: %w", err)
	}
	return nil
}

// endError returns why the connection ended: a [byeError] if the window sent a reason,
// [errClosed] after close, nil while it is open.
func (c *client) endError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		return nil
	}
	return fmt.Errorf("the connection ended: %w", c.err)
}

// close ends the connection and waits for its goroutines.
func (c *client) close() {
	c.fail(errClosed)
	c.loops.Wait()
}

// fail ends the connection; the first reason is kept.
func (c *client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		c.conn.Close()
		c.out.finish(nil)
		for _, response := range c.waiting {
			close(response)
		}
		clear(c.waiting)
	}
}
