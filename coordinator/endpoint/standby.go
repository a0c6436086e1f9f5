package endpoint

import (
	"context"
	"io"
	"time"

	"browser-coordinator/internal/usersocket"
)

// askTimeout bounds how long a responding owner takes.
const askTimeout = time.Second

// state asks this window's owner for its state.
func (f *files) state(ctx context.Context) (s Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	rest, err := usersocket.Ask(ctx, f.path("sock"), statusPath, &s)
	if err == nil {
		rest.Close()
	}
	return s, err
}

// A coordinator that stands by keeps one request to the owner open. Its end is the event
// that the owner has ended, for any cause: the kernel closes a dead process's
// connections.

// standBy calls settled once it waits for the owner, and returns nil when the owner has
// ended or ctx has; an error when there was no owner to wait for.
func (e *Endpoint) standBy(ctx context.Context, settled func()) error {
	path := standbyPath
	if e.opts.RequireToken {
		path += strictQuery
	}
	var s Status
	rest, err := usersocket.Ask(ctx, e.files.path("sock"), path, &s)
	if err != nil {
		return err
	}
	defer rest.Close()
	addr := e.files.addr(s.Port)
	addr.RequiresToken = addr.RequiresToken || s.TokenRequired
	e.mu.Lock()
	e.addr = addr
	e.mu.Unlock()
	settled()
	_, _ = io.Copy(io.Discard, rest)
	return nil
}
