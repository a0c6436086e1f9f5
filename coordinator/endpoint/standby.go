package endpoint

import (
	"context"
	"encoding/json"
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
	err = usersocket.Ask(ctx, f.path("sock"), statusPath, &s)
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
	res, _, err := usersocket.Get(ctx, e.files.path("sock"), path)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var s Status
	if err := json.NewDecoder(io.LimitReader(res.Body, usersocket.MaxAnswer)).Decode(&s); err != nil {
		return err
	}
	addr := e.files.addr(s.Port)
	addr.RequiresToken = addr.RequiresToken || s.TokenRequired
	e.mu.Lock()
	e.addr = addr
	e.mu.Unlock()
	settled()
	_, _ = io.Copy(io.Discard, res.Body)
	return nil
}
