// Package virtual presents pages as a browser. Where a window's debug
// browser has no port, its debugger (js-debug) still shares each page's CDP
// session; this package serves them together as one browser-level endpoint that
// any CDP client, and cdpproxy, takes for a browser of its own.
//
//	b := virtual.New(nil)
//	defer b.Close()
//	b.SetPages([]virtual.Page{{Key: "1", URL: "ws://127.0.0.1:40123/3c0f"}})
//	url, err := b.URL() // ws://127.0.0.1:PORT/SECRET/devtools/browser/GUID
//
// The session of a page is the debugger's own, and every client's. Commands that
// would disturb the debugger are answered as if done, or refused. A client that
// changes a setting has a lease on it (lease.go), and the setting is reset when
// the client leaves (specs/cdp-endpoint.md, "The virtual browser").
//
// It does not promise what only a browser can do: contexts, targets that the
// debugger has not joined, and new pages before their first script.
package virtual
