package launch

import (
	"context"
	"sync"
	"time"

	"browser-coordinator/coordinator/chrome"
)

// endTimeout bounds the end of a browser.
const endTimeout = 2 * time.Second

// OnDemand is a browser that is launched at its first use, and again after it has ended.
// Concurrent callers share one launch.
type OnDemand struct {
	Find    Find
	Options chrome.Options

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
	browser, err := Browser(ctx, o.Find, o.Options, "leave --headed away")
	if err != nil {
		return "", err
	}
	o.browser = browser
	return browser.URL(), nil
}

// Downloads is the running browser's folder for downloads; empty: no browser runs.
func (o *OnDemand) Downloads() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.browser == nil {
		return ""
	}
	return o.browser.Downloads()
}

// Done is closed when the browser has ended; nil: no browser runs.
func (o *OnDemand) Done() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.browser == nil {
		return nil
	}
	return o.browser.Done()
}

// End ends the browser, if one runs.
func (o *OnDemand) End() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.browser == nil {
		return nil
	}
	err := End(o.browser, o.Options.KeepsProfile())
	o.browser = nil
	return err
}
