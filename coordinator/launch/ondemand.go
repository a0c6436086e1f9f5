// Package launch is the one place that decides when our own browser starts and ends:
// it starts at its first use, and ends so that its profile is saved. Package
// coordinator/chrome runs the process of a browser on this machine; package
// coordinator/provider opens browsers elsewhere.
package launch

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"browser-coordinator/cdpproxy/browser"
)

// OnDemand is a browser that is opened at its first use, and again after it has ended.
// Concurrent callers share one browser.
type OnDemand struct {
	source Source
	turn   chan struct{} // is taken to open and to end

	mu      sync.Mutex      // guards the fields that follow
	browser Browser         // nil: none was opened, or End has ended it
	opening context.Context // ends with the next End
	cancel  context.CancelCauseFunc
}

// New is a browser of a source.
func New(source Source) *OnDemand {
	o := &OnDemand{source: source, turn: make(chan struct{}, 1)}
	o.opening, o.cancel = context.WithCancelCause(context.Background())
	return o
}

// Browser is Open for a caller that needs only the CDP URL.
func (o *OnDemand) Browser(ctx context.Context) (string, error) {
	b, err := o.Open(ctx)
	if err != nil {
		return "", err
	}
	return b.URL(), nil
}

// Open returns the running browser, and opens one if none runs.
func (o *OnDemand) Open(ctx context.Context) (Browser, error) {
	o.mu.Lock()
	opening := o.opening
	o.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(opening, func() { cancel(context.Cause(opening)) })()
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
		if waiting := o.source.Waiting(); waiting != "" {
			return nil, fmt.Errorf("%w: %s", context.Cause(ctx), waiting)
		}
		return nil, context.Cause(ctx)
	}
	if b := o.running(); b != (absentBrowser{}) {
		select {
		case <-b.Done():
		default:
			return b, nil
		}
	}
	b, err := o.source.Open(ctx)
	o.set(b)
	return b, err
}

func (o *OnDemand) set(b Browser) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.browser = b
}

func (o *OnDemand) running() Browser {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.browser == nil {
		return absentBrowser{}
	}
	return o.browser
}

// absentBrowser is the browser that does not run, or no longer.
type absentBrowser struct{}

func (absentBrowser) URL() string                { return "" }
func (absentBrowser) InProcess() browser.Browser { return nil }
func (absentBrowser) Downloads() string          { return "" }
func (absentBrowser) Proxy(string) string        { return "" }
func (absentBrowser) Done() <-chan struct{}      { return closed }
func (absentBrowser) Err() error                 { return nil }

var closed = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Kind is that of the browser, also before one runs.
func (o *OnDemand) Kind() Kind { return o.source.Kind() }

// Provider names who runs the browser, for people. It is empty for the kind Launched.
func (o *OnDemand) Provider() string { return o.source.Provider() }

// Waiting is what Browser waits for now, if that may take long; else empty.
func (o *OnDemand) Waiting() string { return o.source.Waiting() }

// Downloads is the running browser's folder for downloads; empty: no browser runs, or
// its downloads are not on this machine.
func (o *OnDemand) Downloads() string { return o.running().Downloads() }

// Proxy describes the proxy through which the running browser opens an address; empty: none is known.
func (o *OnDemand) Proxy(address string) string { return o.running().Proxy(address) }

// URL is the running browser's CDP address; empty: none runs.
func (o *OnDemand) URL() string { return o.running().URL() }

// Done is closed when the browser has ended, or if none runs.
func (o *OnDemand) Done() <-chan struct{} { return o.running().Done() }

// Err is how the browser ended by itself; nil: in good order, or it still runs.
func (o *OnDemand) Err() error { return o.running().Err() }

// errEnded is the cause when End cancels a call of Browser.
var errEnded = errors.New("this program has ended the browser")

// End ends the browser, if one runs, and cancels the calls of Browser: they may wait in a
// provider's queue for a long time.
func (o *OnDemand) End() error {
	o.mu.Lock()
	o.cancel(errEnded)
	o.opening, o.cancel = context.WithCancelCause(context.Background())
	o.mu.Unlock()
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	o.set(nil)
	return o.source.End()
}
