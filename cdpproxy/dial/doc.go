// Package dial connects to browsers. Every caller that opens a connection to a
// browser does so here, by bytes, HTTP or WebSocket:
//
//	conn, u, err := dial.Dial(ctx, browser.URL, nil)
//	text, err := dial.Get(ctx, "http://127.0.0.1:9222/json/version", 64<<10, nil)
//	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: dial.Client(nil)})
//
// A browser's address may come from a window, a file or a browser, and none of them
// is trusted. So an address that is not on loopback is refused before a name lookup
// or a socket, unless the user named it ([Options.Remote]). Credentials in a URL
// are never sent, redirects are never followed, and proxies of the environment are
// never used. The headers of a response are bounded.
package dial
