package launch

import (
	"context"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/chrome"
)

// End ends a browser that we launched. One whose profile stays gets Browser.close
// first: only then does it save what it holds in memory, cookies above all. A
// signal makes a headless one drop them.
func End(b *chrome.Browser, profileStays bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if profileStays {
		if conn, err := cdp.Dial(ctx, b.URL(), nil); err == nil {
			// The browser's end says more than its response, if one comes.
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
