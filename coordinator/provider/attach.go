package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/backoff"
)

// returnTimeout bounds the wait for an address that has had a browser before.
const returnTimeout = 20 * time.Second

// Attach is the source for the browser at a CDP address: ws or wss, or http or https,
// whose /json/version names the browser. The browser is not ended, only left.
type Attach struct {
	Address Address
	Logger  *slog.Logger

	current *connection // nil: it was never reached
	waiting atomic.Pointer[string]
}

// Open implements launch.Source.
func (a *Attach) Open(ctx context.Context) (launch.Browser, error) {
	defer a.waiting.Store(nil)
	c, err := again(ctx, a.current != nil, &a.waiting, a.Provider(), a.connect)
	if err != nil {
		return nil, err
	}
	a.current = c
	return c, nil
}

// again opens a browser. A provider that has given one before is tried again for a
// while, since it may be back soon. Another one fails at once: its address may be wrong.
func again(ctx context.Context, before bool, waiting *atomic.Pointer[string], name string, open func(context.Context) (*connection, error)) (*connection, error) {
	began := time.Now()
	pause := backoff.Backoff{First: 250 * time.Millisecond, Max: 5 * time.Second, Jitter: 0.2}
	for {
		c, err := open(ctx)
		if err == nil {
			return c, nil
		}
		final := errors.As(err, new(*RefusedError)) || errors.As(err, new(*unexpected))
		if !before || final || time.Since(began) > returnTimeout {
			return nil, err
		}
		waiting.Store(new("waiting for " + name + " to come back"))
		if !pause.Sleep(ctx) {
			return nil, err
		}
	}
}

func (a *Attach) connect(ctx context.Context) (*connection, error) {
	target, err := cdp.Resolve(ctx, a.Address.options(), a.Address.url.String())
	if err != nil {
		return nil, a.Address.failure(nil, err)
	}
	c, err := connect(ctx, a.Address, target, nil, a.Logger)
	if refused := new(RefusedError); errors.As(err, &refused) && refused.Status == http.StatusNotFound && strings.HasPrefix(a.Address.url.Scheme, "ws") {
		err = fmt.Errorf("%w. A browser's own debugging port is given with http, not ws: it is asked for the path", err)
	}
	return c, err
}

// Provider implements launch.Source.
func (a *Attach) Provider() string { return "the browser at " + a.Address.Place() }

// End implements launch.Source.
func (a *Attach) End() error {
	if a.current != nil {
		a.current.close()
	}
	return nil
}

// Waiting implements launch.Source.
func (a *Attach) Waiting() string { return orEmpty(a.waiting.Load()) }

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
