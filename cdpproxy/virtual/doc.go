// Package virtual presents pages as a browser. If a window's debug browser has no
// port, its debugger (js-debug) still shares each page's CDP session. This package
// serves these sessions as one browser-level endpoint, which any CDP client, and
// cdpproxy, can use like a browser's own.
//
//	b, err := virtual.New(logger)
//	if err != nil { … }
//	defer b.Close()
//	b.SetPages([]virtual.Page{{Key: "1", URL: "ws://127.0.0.1:40123/3c0f"}})
//	url := b.URL() // ws://127.0.0.1:PORT/SECRET/devtools/browser/GUID
//
// The clients share a page's session with the debugger. Commands that would disturb
// the debugger get a success response without effect, or are refused. One
// client at a time changes a page's settings (changes.go). They are reset when the
// client leaves (specs/cdp-endpoint.md, "The virtual browser").
//
// It does not provide what only a browser can: contexts, targets that the debugger
// has not joined, and new pages before their first script.
package virtual
