// Package page drives one browser page over CDP: navigate, see, act, read its
// console, run script in it. What an act did is answered by what changed.
//
//	browser, err := page.Connect(ctx, "http://127.0.0.1:9222", nil)
//	if err != nil { … }
//	defer browser.Close()
//	p, err := browser.Current(ctx)
//	change, err := p.Navigate(ctx, "localhost:3000")
//	seen, err := p.Reader().Snapshot(ctx, snapshot.Options{}) // - button "Save" [ref=e3]
//	change, err = p.Act(ctx, p.Input().Click("e3", input.ClickOptions{}))
//
// A target is a ref from a snapshot ("e3") or a CSS selector ("#save"). Refs
// stay the same for as long as their document lives and are never given out a
// second time: one of an older document is a [frame.StaleRefError].
//
// Nothing here waits for good. Every call has a deadline, and a JavaScript
// dialog, a debugger pause, a crash, a closed tab or a browser that goes away
// ends it with a typed error. Settling is found by events, never by waiting a
// fixed time.
//
// The package never brings a tab to the front, closes only the pages that it is
// told to close, ends no browser, and decides nothing about which window or
// browser is meant or about what an agent may do.
package page
