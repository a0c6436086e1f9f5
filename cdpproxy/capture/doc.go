// Package capture protects pages from their clients' pictures. Two Page.captureScreenshot at once
// with a clip, or beyond the viewport, leave a page at the size of the clip, and so does one whose
// session ends before the response. So such a capture waits until no other one of its page is under
// way, of any client or agent of this user, and its session does not end before it.
//
//	c := capture.New(page, locks, respond, logger)
//	c.Connect(conn)        // to the browser
//	c.Send(command)        // of the client
//	c.Receive(text, text)  // from the browser
//	c.Close()
package capture
