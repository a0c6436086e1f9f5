package launch

import (
	"context"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/chrome"
)

// End ends a browser that we launched. If the profile stays, the browser gets
// Browser.close first: only then does it save what it has in memory, above all cookies.
// After a signal a headless browser drops them.
func End(b *chrome.Browser, profileStays bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if profileStays {
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
