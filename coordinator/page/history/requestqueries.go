package history

import (
	"slices"
	"strings"
	"time"
)

// What actions and waits need of the requests: which failed, and which are under way.

// Failures returns the requests that have failed after one failure and until another, or had
// a status of 400 or more.
func (n *Network) Failures(after, end int64) []Request {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	var failed []Request
	for _, e := range n.log.entries {
		if e.failure > after && e.failure <= end && !e.dismissed {
			failed = append(failed, e.Request)
		}
	}
	return failed
}

// Dismiss omits requests from later failures: the agent knows how they ended.
func (n *Network) Dismiss(is func(Request) bool) {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	for _, e := range n.log.entries {
		e.dismissed = e.dismissed || is(e.Request)
	}
}

// LastHeader is a header of the last response from an address; empty: there was none.
func (n *Network) LastHeader(url, name string) string {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	for _, e := range slices.Backward(n.log.entries) {
		if e.URL == url {
			_, received := e.headers()
			return Header(headerText(received), name)
		}
	}
	return ""
}

// LastFailure is the number of the last failure; 0: there was none.
func (n *Network) LastFailure() int64 {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	return n.log.failure
}

// PendingSince returns the requests after that number which are not done and which a script made, or
// a frame for its document.
func (n *Network) PendingSince(after int64) []Request {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	var open []Request
	for _, e := range slices.Backward(n.log.entries) {
		if e.Seq <= after {
			break
		}
		if (e.Type == "fetch" || e.Type == "xhr" || e.Type == "document" && !e.Navigation) && !e.Done &&
			e.session.Err() == nil {
			open = append(open, e.Request)
		}
	}
	return open
}

// Awaited are the URLs of such requests, without those whose responses go on.
func (n *Network) Awaited() []string {
	var urls []string
	for _, r := range n.PendingSince(0) {
		if !streamTypes[r.MIMEType] {
			urls = append(urls, r.URL)
		}
	}
	return urls
}

// Pending reports whether a response is awaited that comes within that time, as far as can be
// told: none that has taken longer already, or whose address has before.
func (n *Network) Pending(timeout time.Duration) bool {
	open := slices.DeleteFunc(n.PendingSince(0), func(r Request) bool {
		return streamTypes[r.MIMEType] || time.Since(r.Started) > timeout
	})
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	return slices.ContainsFunc(open, func(r Request) bool {
		address, _, _ := strings.Cut(r.URL, "?")
		return !slices.ContainsFunc(n.log.entries, func(e *entry) bool {
			before, _, _ := strings.Cut(e.URL, "?")
			return e.Done && e.Duration > timeout && before == address
		})
	})
}

// Last is the number of the last request; 0: there was none.
func (n *Network) Last() int64 {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	return n.log.seq
}

// Failure is why the last request for a URL failed; empty: it did not.
func (n *Network) Failure(address string) string {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	for _, e := range slices.Backward(n.log.entries) {
		if strings.TrimSuffix(e.URL, "/") == strings.TrimSuffix(address, "/") {
			return e.Failed
		}
	}
	return ""
}

// DocumentURLs are the URLs of the requested documents.
func (n *Network) DocumentURLs() []string {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	var urls []string
	for _, e := range n.log.entries {
		if e.Type == "document" {
			urls = append(urls, e.URL)
		}
	}
	return urls
}

// endless are the types of requests that may stay open forever.
var endless = map[string]bool{"eventsource": true, "websocket": true, "media": true, "ping": true}

// Unanswered are the URLs of the requests without a response. Chromium does not always report
// how those of an earlier document end, such as that for its icon.
func (n *Network) Unanswered() []string {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	var open []string
	for _, e := range n.log.open {
		if e != nil && !e.Done && !endless[e.Type] && e.document == n.history.document && e.session.Err() == nil {
			open = append(open, e.URL)
		}
	}
	return open
}
