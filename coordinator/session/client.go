package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/trusted"
	"browser-coordinator/internal/usersocket"
)

// Client is the connection of a command to its session.
type Client struct {
	mcp   *mcp.ClientSession
	place Place
}

// Starter starts the process of a session, and returns when it listens.
type Starter func(context.Context, Place) error

// Options of a command. All are required.
type Options struct {
	// Agent is the name by which the command introduces itself.
	Agent   string
	Version string
	// Start starts a session that does not run; nil: that is an error.
	Start Starter
	// Notice reports something to the user.
	Notice func(format string, args ...any)
}

// ErrNone reports that no session runs.
var ErrNone = errors.New("no session runs")

// handshakeTimeout bounds how long a session takes to begin with a command.
const handshakeTimeout = 10 * time.Second

// Open connects to a session. It starts one if none runs; of several commands at once, one does.
func Open(ctx context.Context, place Place, o Options) (*Client, error) {
	c, err := Dial(ctx, place, o)
	if err == nil {
		return c, c.checkVersion(o)
	}
	if !isGone(err) {
		return nil, err
	}
	if o.Start == nil {
		return nil, fmt.Errorf("%w %s", ErrNone, place)
	}
	unlock, err := place.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if c, err = Dial(ctx, place, o); err == nil { // another command has started it
		return c, c.checkVersion(o)
	}
	if !isGone(err) {
		return nil, err
	}
	if usersocket.IsDead(err) {
		o.Notice("The previous session %s ended unexpectedly, and with it its private browser, if it had one (see "+
			"%s). This is a new one.\n", place, place.Log())
	}
	if err := o.Start(ctx, place); err != nil {
		return nil, err
	}
	return Dial(ctx, place, o)
}

// isGone reports whether an error of Dial is that of a session that has ended, or that ends just
// now: it takes its name from the socket before it ends its connections.
func isGone(err error) bool {
	return usersocket.IsDead(err) || errors.Is(err, fs.ErrNotExist) || IsEnding(err)
}

// IsEnding reports whether an error of Dial is that of a session that ends just now.
func IsEnding(err error) bool { return errors.As(err, new(*endingError)) }

// endingError reports a session that has not begun with a command.
type endingError struct{ err error }

func (e *endingError) Error() string { return "the session ends just now: " + e.err.Error() }
func (e *endingError) Unwrap() error { return e.err }

// Dial connects to a session that runs, of any version.
func Dial(ctx context.Context, place Place, o Options) (*Client, error) {
	conn, err := usersocket.Dial(ctx, place.path("sock"))
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: o.Agent, Version: o.Version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
	})
	if err := errors.Join(mcp.AddSendingCustomMethod[*noParams, *stateResult](client, methodState),
		mcp.AddSendingCustomMethod[*noParams, *endResult](client, methodEnd)); err != nil {
		return nil, err
	}
	greeting, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	defer context.AfterFunc(greeting, func() { conn.Close() })()
	session, err := client.Connect(ctx, transportOf(conn), nil)
	if err != nil {
		conn.Close()
		if ctx.Err() == nil && greeting.Err() != nil {
			return nil, fmt.Errorf("the session %s does not answer within %v: see %s", place, handshakeTimeout,
				place.Log())
		}
		return nil, &endingError{err}
	}
	return &Client{session, place}, nil
}

// transportOf is MCP on a connection.
func transportOf(conn net.Conn) mcp.Transport { return &mcp.IOTransport{Reader: conn, Writer: conn} }

// checkVersion refuses a session of another version, and ends the connection then.
func (c *Client) checkVersion(o Options) error {
	info := c.mcp.InitializeResult().ServerInfo
	if info != nil && info.Version == o.Version {
		return nil
	}
	theirs := "unknown"
	if info != nil {
		theirs = info.Version
	}
	c.Close()
	return fmt.Errorf("the session %s is of version %s of this program, and this command of version %s: end it with "+
		"`coordinator close`, and the next command starts a new one", c.place, theirs, o.Version)
}

// Call calls a tool. When ctx ends, the call is cancelled.
func (c *Client) Call(ctx context.Context, tool string, arguments json.RawMessage) (*mcp.CallToolResult, error) {
	result, err := c.mcp.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("the call was cancelled, and what was asked may have been done: %w", ctx.Err())
	case err != nil && isClosed(err):
		return nil, fmt.Errorf("the session %s ended during the call, and what was asked may have been done: see %s",
			c.place, c.place.Log())
	}
	return result, err
}

func isClosed(err error) bool {
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// State is what the session reports of itself.
func (c *Client) State(ctx context.Context) (State, error) {
	result, err := mcp.CallCustomMethod[*noParams, *stateResult](ctx, c.mcp, methodState, &noParams{})
	if err != nil {
		return State{}, err
	}
	return result.State, nil
}

// End ends the session, and returns when it has ended.
func (c *Client) End(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { c.mcp.Close() })()
	_, err := mcp.CallCustomMethod[*noParams, *endResult](ctx, c.mcp, methodEnd, &noParams{})
	if err != nil && !isClosed(err) { // a session that has little to end may be gone before its response is
		return err
	}
	_ = c.mcp.Wait() // its connections are the last to end
	return ctx.Err()
}

// doTimeout bounds how long a command waits for another one that runs several steps.
const doTimeout = time.Minute

// Alone admits one command at a time that runs several steps in the session, until unlock is called.
func (c *Client) Alone(ctx context.Context) (unlock func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, doTimeout)
	defer cancel()
	unlock, err = c.place.take(waiting, "do")
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("another `coordinator do` has been running in the session %s for %v, and nothing was "+
			"done: run this one again when it has ended", c.place, doTimeout)
	}
	return unlock, err
}

// Close ends the connection.
func (c *Client) Close() { _ = c.mcp.Close() } // the session may have ended

// Clean removes the socket of a session whose process was killed.
func (p Place) Clean(ctx context.Context) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := usersocket.RemoveDead(ctx, p.path("sock")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// live admits one process that is the session. It waits for one that ends.
func (p Place) live(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	unlock, err = p.take(ctx, "live")
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("the previous session %s has not ended within %v: see %s", p, endTimeout, p.Log())
	}
	return unlock, err
}

const (
	// endTimeout bounds how long a session waits for the end of the one before it.
	endTimeout = 10 * time.Second
	// lockTimeout bounds how long one command waits for another one that starts the session.
	lockTimeout = time.Minute
)

// lock admits one process that starts or removes the session.
func (p Place) lock(ctx context.Context) (unlock func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	unlock, err = p.take(waiting, "lock")
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("another command has been starting the session %s for %v: see %s", p, lockTimeout, p.Log())
	}
	return unlock, err
}

// take takes one of the session's locks, which the system releases when this process ends.
func (p Place) take(ctx context.Context, kind string) (unlock func(), err error) {
	lock := flock.New(p.path(kind), flock.SetPermissions(0o600))
	taken := make(chan error)
	go await(ctx, lock, taken)
	select {
	case err = <-taken:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	return func() { _ = lock.Close() }, nil
}

// await waits for a lock. Only the lock itself, or the end of the process, ends that wait: where
// nobody wants the lock any longer, await releases it as soon as it has it.
func await(ctx context.Context, lock *flock.Flock, taken chan<- error) {
	_, err := trusted.Lock(lock, func() (bool, error) { return true, lock.Lock() })
	select {
	case taken <- err:
	case <-ctx.Done():
		_ = lock.Close()
	}
}
