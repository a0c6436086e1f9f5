package userchrome

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/cdpproxy/private"
	"browser-coordinator/coordinator/launch"
)

// ErrRefused: the user has pressed Cancel in the browser's question, which is not asked again
// by itself.
var ErrRefused = errors.New("you did not allow remote debugging in it")

// askingText is for the agent and the terminal while the browser asks its user.
func askingText(name string) string {
	return name + " is asking you to allow remote debugging: press Allow in its window"
}

const (
	// askingAfter is how long a browser takes to answer that does not ask.
	askingAfter = 500 * time.Millisecond
	// readyTimeout bounds the first response of a browser that has opened the connection.
	readyTimeout = 20 * time.Second
	// readLimit is the largest message that Chromium can hold.
	readLimit = 256 << 20
)

// owned is the one connection to the browser, of this process. It implements launch.Browser.
type owned struct {
	launch.Connection
	server *multiplex.Server
	part   *partial.Browser // what clients reach of it
	relay  *private.Server  // serves that to other processes
}

// connect opens the connection. It waits as long as the browser asks its user, and reports that
// to asking.
func connect(ctx context.Context, p *port, asking func(), log *slog.Logger) (*owned, error) {
	timer := time.AfterFunc(askingAfter, asking)
	defer timer.Stop()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return p.dial(ctx)
	}}
	ws, res, err := websocket.Dial(ctx, p.url(), &websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		return nil, p.failure(ctx, res, err)
	}
	ws.SetReadLimit(readLimit)
	o := &owned{Connection: launch.NewConnection()}
	o.server, err = multiplex.Serve(&webSocket{ws, o, p.Name()}, log)
	if err != nil {
		ws.CloseNow()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	if err := o.server.Ready(ctx); err != nil {
		o.server.Close()
		return nil, fmt.Errorf("%s does not respond: %w", p.Name(), err)
	}
	if o.part, err = partial.New(ctx, o.server, log); err != nil {
		o.server.Close()
		return nil, err
	}
	if o.relay, err = private.Serve(o.part, log); err != nil {
		o.part.Close()
		o.server.Close()
		return nil, err
	}
	o.Address, o.Browser = o.relay.URL(), o.part
	return o, nil
}

// failure is the error of a connection that was not opened.
func (p *port) failure(ctx context.Context, res *http.Response, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case res != nil && res.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s: %w. If you did not mean that, start this program again, or its agent's session: only "+
			"then it asks once more", p.Name(), ErrRefused)
	case res != nil:
		return fmt.Errorf("%s does not accept the path that it has in DevToolsActivePort (HTTP %s): restart it, then "+
			"try again", p.Name(), res.Status)
	case errors.Is(err, io.EOF), errors.As(err, new(*net.OpError)):
		return fmt.Errorf("%s was closed before you allowed remote debugging: start it, then try again", p.Name())
	}
	return err
}

// webSocket is the connection for the server of its clients. Its reader ends it.
type webSocket struct {
	*websocket.Conn
	owner *owned
	name  string
}

func (w *webSocket) Read() ([]byte, error) {
	_, message, err := w.Conn.Read(context.Background()) // until Close
	if err != nil {
		w.owner.Finish(fmt.Errorf("%s has closed the connection: it was closed or restarted, or you ended remote "+
			"debugging in it. When you need it again, it asks you again", w.name))
		return nil, io.EOF
	}
	return message, nil
}

func (w *webSocket) Write(message []byte) error {
	return w.Conn.Write(context.Background(), websocket.MessageText, message)
}

func (w *webSocket) Close() error { return w.CloseNow() }

// close leaves the browser, which lives on.
func (o *owned) close() {
	o.Finish(nil)
	o.relay.Close()
	o.part.Close()
	o.server.Close()
}
