// Package page drives one browser page over CDP: navigate, read, run actions, read
// the console, evaluate script. The result of an action is what it changed in the page.
//
//	browser, err := page.Connect(ctx, "http://127.0.0.1:9222", nil)
//	if err != nil { … }
//	defer browser.Close()
//	id, err := browser.OpenTab(ctx)
//	p, err := browser.Page(ctx, id)
//	change, err := p.Navigate(ctx, "localhost:3000")
//	seen, err := p.Reader().Snapshot(ctx, snapshot.Options{}) // - button "Save" [ref=e3]
//	change, err = p.Act(ctx, p.Input().Click("e3", input.ClickOptions{}))
//
// A target is a ref from a snapshot ("e3") or a CSS selector ("#save"). A ref
// is valid while its document lives and is never reused: a ref of an older document
// is a [frame.StaleRefError].
//
// Every call has a deadline. A JavaScript dialog, a debugger pause, a crash, a
// closed tab or a disconnected browser ends a call with a typed error. Settling
// relies on events, never on a fixed delay.
//
// The package never brings a tab to the front, closes only the pages that its caller
// names, and ends no browser. It does not decide which window or browser to use or
// what an agent may do.
package page
