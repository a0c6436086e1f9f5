package main

import (
	"context"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/chrome"
)

// savePatience is what a browser gets to save its profile.
const savePatience = 2 * time.Second

// endBrowser ends a browser that we launched. One whose profile stays is asked
// over CDP first: only then does it save what it holds in memory, cookies above
// all; a signal makes a headless one drop them.
func endBrowser(ctx context.Context, b *chrome.Browser, profileStays bool) error {
	if profileStays {
		saving, cancel := context.WithTimeout(ctx, savePatience)
		defer cancel()
		if conn, err := cdp.Dial(saving, b.URL(), nil); err == nil {
			// Its answer, if one comes, says no more than its end does.
			_, _ = conn.Start(saving, "Browser.close", nil)
			select {
			case <-b.Done():
			case <-saving.Done():
			}
			conn.Close()
		}
	}
	return b.Close(ctx)
}
