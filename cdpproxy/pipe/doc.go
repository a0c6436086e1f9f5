// Package pipe serves the debugging pipe of a browser (--remote-debugging-pipe) to
// any number of CDP clients, as a DevTools server with a debugging port would.
//
//	s, err := pipe.Serve(fromBrowser, toBrowser, logger)
//	if err != nil { … }
//	defer s.Close()
//	err = s.Ready(ctx) // the browser has answered
//	url := s.URL()     // ws://127.0.0.1:PORT/SECRET/devtools/browser/GUID
//
// The pipe is one connection for all clients. Each client gets a browser session of
// its own on it (Target.attachToBrowserTarget), or a page session for
// /devtools/page/ID. It reaches only the sessions that were attached within its
// own. When a client leaves, its session is detached, and Chromium cleans up as
// when a WebSocket closes.
//
// The package does not start the browser and does not judge what clients send.
package pipe
