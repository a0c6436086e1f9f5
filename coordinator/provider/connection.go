package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/coordinator/launch"
)

const (
	// connectTimeout bounds the time from the dial to the browser's first response. Some
	// providers start the browser meanwhile.
	connectTimeout = time.Minute
	// checkInterval is the pause between checks of a browser that sends nothing. A check
	// also keeps the connection open in proxies on the way.
	checkInterval = 5 * time.Second
	// suspectAfter is how long a check may go without a response before the provider is
	// asked whether the browser still runs.
	suspectAfter = 2 * time.Second
	// readLimit is the largest message that Chromium can hold.
	readLimit = 256 << 20
	// writeTimeout bounds one command: a provider that reads nothing for that long does
	// not recover.
	writeTimeout = time.Minute
)

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// options for every connection to a provider. The user has named its address.
func (a Address) options() *dial.Options {
	return &dial.Options{Remote: true, KeepAlive: keepAlive, Header: a.header}
}

// RefusedError reports a provider that has answered, but gives no browser. It is of no
// use to try again at once.
type RefusedError struct {
	Place  string
	Status int    // HTTP
	Text   string // for people, without credentials
}

func (e *RefusedError) Error() string {
	status := withText(e.Status, e.Text)
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return fmt.Sprintf("%s does not accept the credentials (%s). Give them in a file with --headers, or in $%s, "+
			"for example `Authorization: Bearer …`", e.Place, status, EnvHeaders)
	case http.StatusTooManyRequests, http.StatusPaymentRequired:
		return fmt.Sprintf("%s gives no more sessions (%s). End another session there, or try again later", e.Place,
			status)
	}
	return fmt.Sprintf("%s refused the connection (%s)", e.Place, status)
}

// connection is the one WebSocket to a browser. It implements launch.Browser.
type connection struct {
	launch.Connection
	ws       *websocket.Conn
	provider Address
	server   *multiplex.Server
	received atomic.Bool // the browser has sent something since the last check
	running  sync.WaitGroup
}

// connect opens the WebSocket of a browser at target, and serves it on this machine. The
// session is kept alive, and asked how a browser that does not respond has ended; nil: the
// provider cannot say.
func connect(ctx context.Context, a Address, target string, s *session, log *slog.Logger) (*connection, error) {
	ctx, cancelDial := context.WithTimeout(ctx, connectTimeout)
	defer cancelDial()
	ws, res, err := websocket.Dial(ctx, target, &websocket.DialOptions{HTTPClient: dial.Client(a.options()),
		HTTPHeader: a.header})
	if err != nil {
		return nil, a.failure(res, err)
	}
	ws.SetReadLimit(readLimit)
	c := &connection{Connection: launch.NewConnection(), ws: ws, provider: a}
	c.server, err = multiplex.Serve(transport{c}, log)
	if err != nil {
		ws.CloseNow()
		return nil, err
	}
	c.Address, c.Browser = c.server.URL(), c.server
	c.running.Go(func() { c.watch(s) })
	if s != nil {
		c.running.Go(func() { s.keepAlive(c.Context()) })
	}
	c.running.Go(c.await)
	if err := c.server.Ready(ctx); err != nil {
		if reason := c.Err(); reason != nil {
			err = reason
		}
		c.close()
		return nil, fmt.Errorf("the browser at %s does not respond: %s", a.Place(), a.redact(err.Error()))
	}
	return c, nil
}

// await is the only function that cleans up.
func (c *connection) await() {
	<-c.Done()
	c.ws.CloseNow()
	c.server.Close()
}

// close ends the connection in good order, or waits until one that has ended is cleaned up.
func (c *connection) close() {
	c.Finish(nil)
	c.running.Wait()
}

// watch checks a browser that sends nothing, until the connection ends.
func (c *connection) watch(s *session) {
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-c.Done():
			return
		}
		if c.received.Swap(false) || c.responds() || s == nil {
			continue
		}
		if reason := s.endReason(c.Context()); reason != nil {
			c.Finish(reason)
		}
	}
}

func (c *connection) responds() bool {
	ctx, cancel := context.WithTimeout(c.Context(), suspectAfter)
	defer cancel()
	return c.server.Ready(ctx) == nil
}

// transport is the connection for the server of its clients.
type transport struct{ *connection }

func (t transport) Read() ([]byte, error) {
	_, message, err := t.ws.Read(t.Context())
	if err != nil {
		t.fail(err)
		return nil, io.EOF
	}
	t.received.Store(true)
	return message, nil
}

func (t transport) Write(message []byte) error {
	ctx, cancel := context.WithTimeout(t.Context(), writeTimeout)
	defer cancel()
	return t.ws.Write(ctx, websocket.MessageText, message)
}

func (t transport) Close() error { return t.ws.CloseNow() }

// fail ends the connection after a failed read.
func (c *connection) fail(err error) {
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed) && closed.Reason != "":
		err = fmt.Errorf("its provider closed the connection: %s", c.provider.redact(closed.Reason))
	case errors.As(err, &closed):
		err = fmt.Errorf("its provider closed the connection (WebSocket status %d)", closed.Code)
	default:
		err = errors.New("the connection to its provider broke")
	}
	c.Finish(err) // without effect if the connection has another reason to end
}

// failure is the error of a request to a provider, without credentials.
func (a Address) failure(res *http.Response, err error) error {
	status, text := new(dial.StatusError), ""
	switch {
	case errors.As(err, &status):
		res, text = status.Response, status.Text
	case res != nil && res.Body != nil:
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxText)) // the status is enough
		text = string(body)
	}
	if res != nil && res.StatusCode >= 300 {
		return a.refused(res.StatusCode, text)
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // without the address
	}
	return fmt.Errorf("cannot connect to %s: %s", a.Place(), a.redact(err.Error()))
}

const (
	// maxText bounds what is read of a provider's own text, in bytes.
	maxText = 1000
	// maxShown bounds what is shown of it: less, so that no credentials at its cut remain.
	maxShown = 500
)

// excerpt is the beginning of a provider's text, without credentials.
func (a Address) excerpt(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(a.redact(text)), "\n") // a stack may follow
	return strings.ToValidUTF8(text[:min(len(text), maxShown)], "")
}

// refused is the error for a response with another status than was expected. An error
// of the server or of a proxy before it may pass.
func (a Address) refused(status int, text string) error {
	text = a.excerpt(text)
	if status >= 500 {
		return fmt.Errorf("%s answers %s", a.Place(), withText(status, text))
	}
	return &RefusedError{a.Place(), status, text}
}

func withText(status int, text string) string {
	if text == "" {
		return fmt.Sprintf("%d %s", status, http.StatusText(status))
	}
	return fmt.Sprintf("%d %s: %s", status, http.StatusText(status), text)
}
