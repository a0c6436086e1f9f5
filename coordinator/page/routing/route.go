package routing

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
)

// Route defines the handling of the requests that its pattern matches:
//
//   - With Abort, they fail.
//   - With Status, Body or ContentType, they get a response without the server.
//   - Otherwise, the request is changed and sent.
type Route struct {
	// Pattern is a glob over the whole URL: * is anything but /, ** is anything, {a,b} is
	// one of both. A pattern that begins with / matches any host.
	Pattern     string
	Abort       string // a key of abortReasons
	Status      int    // 0: 200
	Body        *string
	ContentType string
	// Headers replace those of the same name: in the response if the route creates one, else
	// in the request. RemoveHeaders applies likewise.
	Headers       []Header
	RemoveHeaders []string
	Times         int // how many requests; 0: all
}

// Header is one HTTP header field.
type Header struct{ Name, Value string }

// abortReasons maps Playwright's names to the browser's.
var abortReasons = func() map[string]network.ErrorReason {
	reasons := map[string]network.ErrorReason{}
	for _, r := range []network.ErrorReason{
		network.ErrorReasonFailed, network.ErrorReasonAborted, network.ErrorReasonTimedOut,
		network.ErrorReasonAccessDenied,
		network.ErrorReasonConnectionClosed, network.ErrorReasonConnectionReset, network.ErrorReasonConnectionRefused,
		network.ErrorReasonConnectionAborted, network.ErrorReasonConnectionFailed, network.ErrorReasonNameNotResolved,
		network.ErrorReasonInternetDisconnected, network.ErrorReasonAddressUnreachable,
		network.ErrorReasonBlockedByClient,
		network.ErrorReasonBlockedByResponse,
	} {
		reasons[strings.ToLower(string(r))] = r
	}
	return reasons
}()

func (r *Route) check() error {
	if r.Pattern == "" {
		return fmt.Errorf("the pattern is empty: ** matches every request")
	}
	if r.Abort != "" && abortReasons[r.Abort] == "" {
		return fmt.Errorf("abort %q: want one of %s", r.Abort,
			strings.Join(slices.Sorted(maps.Keys(abortReasons)), ", "))
	}
	if r.Status != 0 && (r.Status < 100 || r.Status > 599) {
		return fmt.Errorf("status %d: want 100 to 599", r.Status)
	}
	if r.Times < 0 {
		return fmt.Errorf("times %d: want 1 or more, or 0 for all", r.Times)
	}
	return nil
}

// responds reports whether the route responds without the server.
func (r *Route) responds() bool {
	return r.Abort == "" && (r.Status != 0 || r.Body != nil || r.ContentType != "")
}

// entries returns the headers in the browser's form, with the route's changes.
func (r *Route) entries(headers []*fetch.HeaderEntry) []*fetch.HeaderEntry {
	removed := func(name string) bool {
		same := func(other string) bool { return strings.EqualFold(name, other) }
		return slices.ContainsFunc(r.RemoveHeaders, same) ||
			slices.ContainsFunc(r.Headers, func(h Header) bool { return same(h.Name) }) ||
			r.ContentType != "" && same("Content-Type")
	}
	result := slices.DeleteFunc(slices.Clone(headers), func(h *fetch.HeaderEntry) bool { return removed(h.Name) })
	if r.ContentType != "" {
		result = append(result, &fetch.HeaderEntry{Name: "Content-Type", Value: r.ContentType})
	}
	for _, h := range r.Headers {
		result = append(result, &fetch.HeaderEntry{Name: h.Name, Value: h.Value})
	}
	return result
}
