package page

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/coordinator/page/routing"
)

// connection is what the pages of one connection to a browser share.
type connection struct {
	conn       *cdp.Conn
	opts       Options
	log        *slog.Logger
	events     *cdp.Subscription
	done       chan struct{} // closed when all events are handled
	running    goroutines    // of this connection; Close waits for them
	targets    targets
	scripts    runningScripts
	router     *routing.Router
	recordings profiling.Recordings
}

// goroutines are started until Wait is called. A call that is under way may still come
// with one then.
type goroutines struct {
	running sync.WaitGroup

	mu   sync.Mutex
	over bool // mu guards it: no goroutine is added while Wait waits
}

// Go runs f in a goroutine, or at once after Wait was called: the connection has ended by
// then, so nothing in f waits.
func (g *goroutines) Go(f func()) {
	g.mu.Lock()
	over := g.over
	if !over {
		g.running.Go(f)
	}
	g.mu.Unlock()
	if over {
		f()
	}
}

// Wait waits for the goroutines.
func (g *goroutines) Wait() {
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	g.running.Wait()
}

// flush waits until the events received so far are handled. The event
// loop never blocks, so neither does flush.
func (c *connection) flush() {
	done := make(chan struct{})
	if !c.events.Mark(done) {
		return
	}
	select {
	case <-done:
	case <-c.done:
	}
}

// detach ends a session without waiting for the response.
func (c *connection) detach(s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := c.conn.Start(ctx, "Target.detachFromTarget", target.DetachFromTargetParams{SessionID: s.ID()}); err != nil {
		c.log.Debug("page: detach", "err", err)
	}
}

// translate maps errors of the connection to errors of this package.
func translate(err error) error {
	for from, to := range map[error]error{cdp.ErrClosed: ErrBrowserGone, cdp.ErrTargetCrashed: ErrCrashed, cdp.ErrSessionGone: ErrPageClosed} {
		if errors.Is(err, from) {
			return fmt.Errorf("%w: %w", to, err)
		}
	}
	return err
}

// runningScripts are the scripts of a connection that run, or that have no caller that
// waits. The zero value is ready for use.
type runningScripts struct {
	mu  sync.Mutex
	all map[*ownScript]bool // mu guards it
}

func (s *runningScripts) add(script *ownScript) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*ownScript]bool{}
	}
	s.all[script] = true
}

func (s *runningScripts) remove(script *ownScript) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, script)
}

// closeTimeout bounds how long a page may take to respond when its connection is about
// to end. Without the connection, nothing can stop the script.
const closeTimeout = 200 * time.Millisecond

// stop stops the scripts that keep pages busy.
func (s *runningScripts) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*closeTimeout)
	defer cancel()
	var stopping sync.WaitGroup
	s.mu.Lock()
	for script := range s.all {
		stopping.Go(func() { script.stop(ctx, closeTimeout) })
	}
	s.mu.Unlock()
	stopping.Wait()
}
