package tools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"browser-coordinator/cdpproxy/dial"
	"browser-coordinator/coordinator/page"
)

// connectError reports a browser that could not be reached: nothing was sent.
type connectError struct {
	url string
	err error
}

func (e *connectError) Error() string {
	return fmt.Sprintf("the browser at %s does not answer: %v", dial.Place(e.url), e.err)
}

func (e *connectError) Unwrap() error { return e.err }

// mayRepeat reports whether a call that failed with its browser can run again without
// doing anything twice: it is read-only, or has sent nothing.
func mayRepeat(c call, err error) bool {
	if errors.As(err, new(*dial.RefusedError)) {
		return false
	}
	var unreached *connectError
	if errors.As(err, &unreached) {
		return true
	}
	return errors.Is(err, page.ErrBrowserGone) && (c.readOnly() || errors.Is(err, page.ErrUnsent))
}

// backPatience bounds the wait for a browser to come back: the restart of a debug session
// takes one to two seconds.
const backPatience = 3 * time.Second

// browserIsBack waits until the selected browser can be reached again. It checks at each
// change of the windows.
func (a *agent) browserIsBack(ctx context.Context, window string, err error) bool {
	if a.server.options.Attach != "" && a.named(window) == "" {
		return false // there is no event for the return of that one
	}
	ctx, cancel := context.WithTimeout(ctx, backPatience)
	defer cancel()
	a.mu.Lock()
	last := a.last
	a.mu.Unlock()
	if errors.Is(err, page.ErrBrowserGone) && last != nil && last.browser != nil {
		// The old browser must be gone, or it would be found again.
		select {
		case <-last.browser.Done():
		case <-ctx.Done():
			return false
		}
	}
	for {
		changed := a.server.options.Windows.Changed()
		if _, err := a.browserFor(ctx, window); err == nil {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// windowOf is the window that a call names; empty: none.
func windowOf(in any) string {
	if chooses, ok := in.(interface{ window() string }); ok {
		return chooses.window()
	}
	return ""
}
