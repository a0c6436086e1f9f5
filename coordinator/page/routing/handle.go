package routing

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/fetch"

	"browser-coordinator/coordinator/cdp"
)

// loop handles the requests that the browser has paused. It ends with the connection;
// Wait waits for it.
func (r *Router) loop(paused *cdp.Subscription) {
	for e := range paused.C() {
		var request fetch.EventRequestPaused
		if err := e.Decode(&request); err != nil {
			r.opts.Logger.Error("page: cannot decode an event of the browser", "err", err)
			continue
		}
		r.mu.Lock()
		m := r.members[e.SessionID]
		used := r.inUse[m.page]
		r.mu.Unlock()
		if used {
			r.handle(m.session, &request)
		}
	}
}

// handle decides on one request. It never blocks.
func (r *Router) handle(s *cdp.Session, e *fetch.EventRequestPaused) {
	route := r.match(e.Request.URL)
	switch {
	case route == nil:
		r.decide(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
	case route.Abort != "":
		r.decide(s, fetch.CommandFailRequest, fetch.FailRequestParams{
			RequestID: e.RequestID, ErrorReason: abortReasons[route.Abort],
		})
	case route.responds():
		r.decide(s, fetch.CommandFulfillRequest, ownResponse(route, e))
	default:
		r.decide(s, fetch.CommandContinueRequest, changedRequest(route, e))
	}
}

// match finds the route of a URL and counts its use.
func (r *Router) match(url string) *Route {
	url, _, _ = strings.Cut(url, "#")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, route := range r.routes {
		if route.exhausted() || !route.matches.MatchString(url) {
			continue
		}
		route.used++
		return &route.Route
	}
	return nil
}

// sendTimeout bounds how long queueing a command may take.
const sendTimeout = time.Second

// decide sends the decision. It ignores a target that has gone.
func (r *Router) decide(s *cdp.Session, method string, params any) {
	ctx, cancel := context.WithTimeout(context.Background(), sendTimeout)
	defer cancel()
	if _, err := s.Start(ctx, method, params); err != nil {
		r.opts.Logger.Debug("page: a target has gone before the decision", "method", method, "err", err)
	}
}

// ownResponse responds in place of the server. It allows a request from another origin,
// because the page could not read the response otherwise.
func ownResponse(route *Route, e *fetch.EventRequestPaused) fetch.FulfillRequestParams {
	params := fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: int64(cmp.Or(route.Status, 200))}
	header := func(name string) string {
		for n, v := range e.Request.Headers {
			if strings.EqualFold(n, name) {
				return fmt.Sprint(v)
			}
		}
		return ""
	}
	var allowed []*fetch.HeaderEntry
	if origin := header("Origin"); origin != "" {
		allowed = []*fetch.HeaderEntry{
			{Name: "Access-Control-Allow-Origin", Value: origin},
			{Name: "Access-Control-Allow-Credentials", Value: "true"},
			{Name: "Vary", Value: "Origin"},
		}
	}
	if want := header("Access-Control-Request-Method"); want != "" && e.Request.Method == "OPTIONS" {
		params.ResponseCode = 204
		params.ResponseHeaders = append(allowed, &fetch.HeaderEntry{
			Name: "Access-Control-Allow-Methods", Value: want,
		})
		if names := header("Access-Control-Request-Headers"); names != "" {
			params.ResponseHeaders = append(params.ResponseHeaders, &fetch.HeaderEntry{
				Name: "Access-Control-Allow-Headers", Value: names,
			})
		}
		return params
	}
	params.ResponseHeaders = route.entries(allowed)
	if route.Body != nil {
		params.Body = []byte(*route.Body)
	}
	return params
}

func changedRequest(route *Route, e *fetch.EventRequestPaused) fetch.ContinueRequestParams {
	params := fetch.ContinueRequestParams{RequestID: e.RequestID}
	if len(route.Headers) > 0 || len(route.RemoveHeaders) > 0 {
		var headers []*fetch.HeaderEntry
		for name, value := range e.Request.Headers {
			headers = append(headers, &fetch.HeaderEntry{Name: name, Value: fmt.Sprint(value)})
		}
		params.Headers = route.entries(headers)
	}
	return params
}
