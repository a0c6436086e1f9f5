package agent

import (
	"context"
	"errors"
	"fmt"

	"browser-coordinator/cdpproxy"
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

// backTimeout bounds the wait for a browser to come back: the restart of a debug session
// takes one to two seconds. An agent should soon know that its user has ended the browser,
// so it is a part of a client's wait.
const backTimeout = cdpproxy.DefaultHold / 10

// browserIsBack waits until the selected browser can be reached again. It checks at each
// change of the windows.
func (c *Call) browserIsBack(ctx context.Context, err error) bool {
	ctx, cancel := context.WithTimeout(ctx, backTimeout)
	defer cancel()
	if last := c.browsers.inUse(); errors.Is(err, page.ErrBrowserGone) && last != nil && last.browser != nil {
		// The old browser must be gone, or it would be found again.
		select {
		case <-last.browser.Done():
		case <-ctx.Done():
			return false
		}
	}
	for {
		changed := c.Windows.Changed()
		if _, err := c.link(ctx); err == nil {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}
