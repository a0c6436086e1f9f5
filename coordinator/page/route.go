package page

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
)

// Route defines the handling of the requests that its pattern matches:
//
//   - With Abort, they fail.
//   - With FromServer or Replace, the server's response is changed.
//   - With Status, Body or ContentType, they get a response without the server.
//   - Otherwise, the request is changed and sent.
type Route struct {
	// Pattern is a glob over the whole URL: * is anything but /, ** is anything, {a,b} is
	// one of both. A pattern that begins with / matches any host.
	Pattern     string
	Abort       string // one of AbortReasons
	Status      int    // 0: 200, or the server's
	Body        *string
	ContentType string
	// Headers replace those of the same name: in the response if the route changes or
	// creates one, else in the request. RemoveHeaders applies likewise.
	Headers       []Header
	RemoveHeaders []string
	FromServer    bool
	Replace       []Replacement // in the body of the server's response
	Method        string        // of the request that is sent on
	RequestBody   *string       // of the request that is sent on
	Times         int           // how many requests; 0: all
}

// Header is one HTTP header field.
type Header struct{ Name, Value string }

// Replacement replaces every occurrence of a text.
type Replacement struct{ Find, With string }

// abortReasons maps Playwright's names to the browser's.
var abortReasons = func() map[string]network.ErrorReason {
	reasons := map[string]network.ErrorReason{}
	for _, r := range []network.ErrorReason{
		network.ErrorReasonFailed, network.ErrorReasonAborted, network.ErrorReasonTimedOut, network.ErrorReasonAccessDenied,
		network.ErrorReasonConnectionClosed, network.ErrorReasonConnectionReset, network.ErrorReasonConnectionRefused,
		network.ErrorReasonConnectionAborted, network.ErrorReasonConnectionFailed, network.ErrorReasonNameNotResolved,
		network.ErrorReasonInternetDisconnected, network.ErrorReasonAddressUnreachable, network.ErrorReasonBlockedByClient,
		network.ErrorReasonBlockedByResponse,
	} {
		reasons[strings.ToLower(string(r))] = r
	}
	return reasons
}()

// AbortReasons are the names that Route.Abort may have.
func AbortReasons() []string {
	var names []string
	for name := range abortReasons {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *Route) check() error {
	if r.Pattern == "" {
		return fmt.Errorf("the pattern is empty: ** matches every request")
	}
	if r.Abort != "" && abortReasons[r.Abort] == "" {
		return fmt.Errorf("abort %q: want one of %s", r.Abort, strings.Join(AbortReasons(), ", "))
	}
	if r.Status != 0 && (r.Status < 100 || r.Status > 599) {
		return fmt.Errorf("status %d: want 100 to 599", r.Status)
	}
	if r.Times < 0 {
		return fmt.Errorf("times %d: want 1 or more, or 0 for all", r.Times)
	}
	return nil
}

// asks reports whether the route changes the server's response.
func (r *Route) asks() bool { return r.Abort == "" && (r.FromServer || len(r.Replace) > 0) }

// answers reports whether the route responds without the server.
func (r *Route) answers() bool {
	return r.Abort == "" && !r.asks() && (r.Status != 0 || r.Body != nil || r.ContentType != "")
}

// Route adds a route for all current and future pages of this connection. The most
// recent route is checked first. Routes end with the connection.
func (b *Browser) Route(ctx context.Context, r Route) error {
	if err := r.check(); err != nil {
		return err
	}
	matches, err := glob(r.Pattern)
	if err != nil {
		return err
	}
	b.router.mu.Lock()
	b.router.routes = slices.Insert(b.router.routes, 0, &activeRoute{Route: r, matches: matches})
	b.router.mu.Unlock()
	return b.router.apply(ctx)
}

// Routes lists the routes in the order in which they are checked.
func (b *Browser) Routes() []Route {
	b.router.mu.Lock()
	defer b.router.mu.Unlock()
	var routes []Route
	for _, r := range b.router.routes {
		if !r.spent() {
			routes = append(routes, r.Route)
		}
	}
	return routes
}

// Unroute removes the routes with a pattern, or all if the pattern is empty. It returns
// how many it removed.
func (b *Browser) Unroute(ctx context.Context, pattern string) (int, error) {
	b.router.mu.Lock()
	before := len(b.router.routes)
	b.router.routes = slices.DeleteFunc(b.router.routes, func(r *activeRoute) bool { return pattern == "" || r.Pattern == pattern })
	removed := before - len(b.router.routes)
	b.router.mu.Unlock()
	if removed == 0 {
		return 0, nil
	}
	return removed, b.router.apply(ctx)
}

// entries returns the headers in the browser's form, with the route's changes.
func (r *Route) entries(headers []*fetch.HeaderEntry, drop ...string) []*fetch.HeaderEntry {
	gone := func(name string) bool {
		same := func(other string) bool { return strings.EqualFold(name, other) }
		return slices.ContainsFunc(r.RemoveHeaders, same) || slices.ContainsFunc(drop, same) ||
			slices.ContainsFunc(r.Headers, func(h Header) bool { return same(h.Name) }) ||
			r.ContentType != "" && same("Content-Type")
	}
	kept := slices.DeleteFunc(slices.Clone(headers), func(h *fetch.HeaderEntry) bool { return gone(h.Name) })
	if r.ContentType != "" {
		kept = append(kept, &fetch.HeaderEntry{Name: "Content-Type", Value: r.ContentType})
	}
	for _, h := range r.Headers {
		kept = append(kept, &fetch.HeaderEntry{Name: h.Name, Value: h.Value})
	}
	return kept
}
