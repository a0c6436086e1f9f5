// Package launch is the one place that decides when a browser of our own starts and ends:
// it starts at its first use, and ends so that its profile is saved. Package
// coordinator/chrome runs the process.
package launch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/chrome"
)

// endTimeout bounds the end of a browser.
const endTimeout = 2 * time.Second

// OnDemand is a browser that is launched at its first use, and again after it has ended.
// Concurrent callers share one launch.
type OnDemand struct {
	Find    func() (chrome.Installation, error)
	Options chrome.Options
	// NoDisplayAdvice is the next step for the user if there is no display for the
	// browser's window.
	NoDisplayAdvice string

	mu      sync.Mutex // guards browser, and is held during a launch
	browser *chrome.Browser
}

// Browser returns the CDP URL of the running browser, and launches one if none runs.
func (o *OnDemand) Browser(ctx context.Context) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.browser != nil {
		select {
		case <-o.browser.Done():
			o.browser = nil
		default:
			return o.browser.URL(), nil
		}
	}
	installed, err := o.Find()
	if err != nil {
		return "", err
	}
	options := o.Options
	options.Executable = installed.Path
	browser, err := chrome.Launch(ctx, options)
	if errors.Is(err, chrome.ErrNoDisplay) {
		return "", fmt.Errorf("%w: %s", err, o.NoDisplayAdvice)
	}
	if err != nil {
		return "", err
	}
	o.browser = browser
	return browser.URL(), nil
}

// running is the browser that was launched last; nil: none was, or End has ended it.
func (o *OnDemand) running() *chrome.Browser {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.browser
}

// Downloads is the running browser's folder for downloads; empty: no browser runs.
func (o *OnDemand) Downloads() string {
	if b := o.running(); b != nil {
		return b.Downloads()
	}
	return ""
}

// Done is closed when the browser has ended; nil: no browser runs.
func (o *OnDemand) Done() <-chan struct{} {
	if b := o.running(); b != nil {
		return b.Done()
	}
	return nil
}

// Err is how the browser ended by itself; nil: in good order, or it still runs.
func (o *OnDemand) Err() error {
	if b := o.running(); b != nil {
		return b.Err()
	}
	return nil
}

// End ends the browser, if one runs. If the profile stays, the browser gets Browser.close
// first: only then does it save what it has in memory, above all cookies. After a signal
// a headless browser drops them.
func (o *OnDemand) End() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.browser
	if b == nil {
		return nil
	}
	o.browser = nil
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if o.Options.KeepsProfile() {
		if conn, err := cdp.Dial(ctx, b.URL(), nil); err == nil {
			// The end of the browser is better evidence than its response, which may not come.
			_, _ = conn.Start(ctx, "Browser.close", nil)
			select {
			case <-b.Done():
			case <-ctx.Done():
			}
			conn.Close()
		}
	}
	return b.Close(ctx)
}
