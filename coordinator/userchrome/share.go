package userchrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/background"
	"browser-coordinator/internal/backoff"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/usersocket"
)

// A process of its own owns the connection to a browser, so that it outlives whoever asked first: the
// first program that needs it starts that process, which ends with the last program that uses it. It has
// the lock of the profile folder, and reports on its socket, chrome-HASH.sock, what has become of the
// connection. A program uses it as long as it reads that response, and its end is the event that the
// owner has left, for any cause. Only processes of the same user reach the socket.

// report is a line of the owner's response.
type report struct {
	PID     int    `json:"pid"`
	Profile string `json:"profile"`
	Browser string `json:"browser"`          // for people
	Asking  bool   `json:"asking,omitempty"` // the browser asks its user
	URL     string `json:"url,omitempty"`    // of CDP, whose path is a secret
	Ended   bool   `json:"ended,omitempty"`  // the process does not own it any longer
	Error   string `json:"error,omitempty"`  // why there is no connection
	Refused bool   `json:"refused,omitempty"`
}

// The paths of an owner's socket.
const (
	browserPath = "/browser" // the report
	usePath     = "/use"     // the report, for a program that uses the connection as long as it reads
)

func fileOf(folder, kind string) (string, error) {
	dir, err := statedir.Make()
	return filepath.Join(dir, fmt.Sprintf("chrome-%016x.%s", xxh3.HashString(folder), kind)), err
}

// open uses the connection of the process that owns it, and starts that process if there is none.
func (b Browser) open(ctx context.Context, asking func()) (*joined, error) {
	pause := backoff.Backoff{First: 5 * time.Millisecond, Max: 250 * time.Millisecond, Jitter: 0.2}
	for started := false; ; started = true {
		// A browser that another process is connected to runs, so this is checked each time.
		p, err := b.choose()
		if err != nil {
			return nil, err
		}
		j, err := join(ctx, p, asking)
		if j != nil || !errors.Is(err, errNoOwner) {
			return j, err
		}
		if started && !pause.Sleep(ctx) { // it is just ending, or another one has just begun
			return nil, context.Cause(ctx)
		}
		log, err := fileOf(p.folder, "log")
		if err != nil {
			return nil, err
		}
		err = background.Start(ctx, log, OwnerCommand, p.folder, p.product)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && !errors.As(err, new(*background.Error)):
			return nil, fmt.Errorf("share the connection to %s: %w", p.Name(), err)
		case err != nil:
			return nil, err
		}
	}
}

// errNoOwner: no process responds for the connection.
var errNoOwner = errors.New("the process that shares the connection does not respond")

// joined is the connection for this process. It implements launch.Browser.
type joined struct {
	launch.Connection
	running sync.WaitGroup
}

// join waits until the process that owns the connection has it, and uses it.
func join(ctx context.Context, p *port, asking func()) (*joined, error) {
	path, err := fileOf(p.folder, "sock")
	if err != nil {
		return nil, err
	}
	j := &joined{Connection: launch.NewConnection()}
	stop := context.AfterFunc(ctx, func() { j.Finish(nil) })
	defer stop() // ctx may outlive many attempts
	res, _, err := usersocket.Get(j.Context(), path, usePath)
	if err != nil {
		j.Finish(nil)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, usersocket.ErrForeign):
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", errNoOwner, err)
	}
	lines := json.NewDecoder(io.LimitReader(res.Body, usersocket.MaxAnswer))
	for {
		var r report
		err := lines.Decode(&r)
		switch {
		case err == nil && r.Asking:
			asking()
			continue
		case err == nil && r.URL != "" && stop():
			j.Address = r.URL
			j.running.Go(func() { j.follow(res.Body, lines) })
			return j, nil
		case err == nil && r.URL == "" && !r.Ended:
			continue
		}
		stop()
		j.Finish(nil)
		res.Body.Close()
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil, r.Error == "":
			return nil, errNoOwner
		case r.Refused:
			return nil, &refusedError{r.Error}
		}
		return nil, errors.New(r.Error)
	}
}

// refusedError is an owner's error that wraps ErrRefused.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }
func (e *refusedError) Unwrap() error { return ErrRefused }

// follow is owned by close.
func (j *joined) follow(body io.Closer, lines *json.Decoder) {
	defer body.Close()
	for {
		var r report
		if lines.Decode(&r) != nil {
			j.Finish(errors.New("the process that kept the connection to your browser has ended. When you need the " +
				"browser again, it asks you again"))
			return
		}
		if r.Error != "" {
			j.Finish(errors.New(r.Error))
			return
		}
	}
}

func (j *joined) close() {
	j.Finish(nil)
	j.running.Wait()
}
