package main

import (
	"context"
	"sync"

	"browser-coordinator/coordinator/chrome"
)

// ownBrowser is the browser of an MCP session that has no window: launched by
// the first tool that needs it, ended with the session.
type ownBrowser struct {
	find    func() (chrome.Installation, error)
	options chrome.Options

	mu      sync.Mutex // guards browser, and makes one launch of many
	browser *chrome.Browser
}

// Browser returns the CDP URL of the running browser, which it starts if there
// is none or the last one has ended.
func (o *ownBrowser) Browser(ctx context.Context) (string, error) {
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
	installed, err := o.find()
	if err != nil {
		return "", err
	}
	options := o.options
	options.Executable = installed.Path
	browser, err := chrome.Launch(ctx, options)
	if err != nil {
		return "", launchError(err, "leave --headed away")
	}
	o.browser = browser
	return browser.URL(), nil
}

// Downloads is the running browser's folder for downloads; empty: there is none.
func (o *ownBrowser) Downloads() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.browser == nil {
		return ""
	}
	return o.browser.Downloads()
}

// Done is closed when the browser has ended; nil where there is none.
func (o *ownBrowser) Done() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.browser == nil {
		return nil
	}
	return o.browser.Done()
}

// End ends the browser, if there is one.
func (o *ownBrowser) End() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.browser == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), shutdownPatience)
	defer cancel()
	err := endBrowser(ctx, o.browser, o.options.KeepsProfile())
	o.browser = nil
	return err
}
