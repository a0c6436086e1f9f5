// Package multiplex serves one CDP connection with a browser to any number of CDP
// clients, as a DevTools server with a debugging port would. The connection may be
// the pipe of a launched browser (--remote-debugging-pipe), or one WebSocket to a
// browser that runs elsewhere.
//
// Each client gets a browser session of its own on the connection
// (Target.attachToBrowserTarget), or a page session for /devtools/page/ID. It reaches
// only the sessions that were attached within its own. When a client leaves, its
// session is detached, and Chromium cleans up as when a WebSocket closes.
//
// The package does not start the browser and does not judge what clients send.
package multiplex
