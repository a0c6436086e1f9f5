package launch

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
)

// certificates decides about the certificates that a browser does not trust: it takes those of some addresses.
// The browser asks for pages and what they load, not for the scripts of service workers. What is refused here is
// aborted, without the page on which the browser's user could proceed.
type certificates struct {
	conn  *cdp.Conn
	ended chan struct{} // is closed when it no longer decides
}

// acceptCertificates begins to decide, until the browser has ended, or end is called.
func acceptCertificates(ctx context.Context, browser string, accept func(url string) bool) (*certificates, error) {
	conn, err := cdp.Dial(ctx, browser, nil)
	if err != nil {
		return nil, err
	}
	failed := conn.Listen("Security.certificateError")
	if err = conn.Call(ctx, "Security.enable", nil, nil); err == nil {
		// No other command lets one decide by the address, though the protocol calls this one deprecated.
		err = conn.Call(ctx, "Security.setOverrideCertificateErrors", map[string]bool{"override": true}, nil)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("decide about certificates: %w", err)
	}
	c := &certificates{conn, make(chan struct{})}
	go func() {
		defer close(c.ended)
		defer conn.Close() // without answers the browser decides itself again
		for e := range failed.C() {
			var request struct {
				ID  int64  `json:"eventId"`
				URL string `json:"requestURL"`
			}
			action := "cancel"
			if e.Decode(&request) == nil && accept(request.URL) {
				action = "continue"
			}
			_, err := conn.Start(context.Background(), "Security.handleCertificateError",
				map[string]any{"eventId": request.ID, "action": action})
			if err != nil {
				return
			}
		}
	}()
	return c, nil
}

// open opens an address in the browser's first page.
func (c *certificates) open(ctx context.Context, url string) error {
	var pages target.GetTargetsResult
	if err := c.conn.Call(ctx, target.CommandGetTargets, nil, &pages); err != nil {
		return err
	}
	for _, t := range pages.TargetInfos {
		if t.Type != "page" {
			continue
		}
		session, err := c.conn.Attach(ctx, t.TargetID)
		if err != nil {
			return err
		}
		if _, err = session.Start(ctx, "Page.navigate", map[string]string{"url": url}); err != nil {
			return err
		}
		return c.conn.Call(ctx, target.CommandDetachFromTarget, target.DetachFromTargetParams{SessionID: session.ID()},
			nil)
	}
	return fmt.Errorf("open %s: the browser has no page", url)
}

// end leaves the decisions to the browser.
func (c *certificates) end() {
	_ = c.conn.Close()
	<-c.ended
}
