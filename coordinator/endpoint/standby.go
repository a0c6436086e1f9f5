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

// askState requests a path whose response begins with the state. The caller closes rest.
func askState(ctx context.Context, socket, path string) (s Status, rest io.ReadCloser, err error) {
	res, _, err := usersocket.Get(ctx, socket, path)
	if err != nil {
		return s, nil, err
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxStatus)).Decode(&s); err != nil {
		res.Body.Close()
		return s, nil, err
	}
	return s, res.Body, nil
}

// state asks this window's owner for its state.
func (f *files) state(ctx context.Context) (Status, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	s, rest, err := askState(ctx, f.path("sock"), statusPath)
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
	s, rest, err := askState(ctx, e.files.path("sock"), path)
	if err != nil {
		return err
	}
	defer rest.Close()
	addr := e.files.at(s.Port)
	addr.RequiresToken = addr.RequiresToken || s.TokenRequired
	e.mu.Lock()
	e.addr = addr
	e.mu.Unlock()
	settled()
	_, _ = io.Copy(io.Discard, rest)
	return nil
}
