package routing

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"

	"browser-coordinator/coordinator/cdp"
)

// loop handles the requests that the browser has paused. It ends with the connection;
// Wait waits for it.
func (r *Router) loop(paused *cdp.Subscription) {
	defer r.running.Done()
	for e := range paused.C() {
		var request fetch.EventRequestPaused
		if err := e.Decode(&request); err != nil {
			r.opts.Logger.Error("page: an event was not understood", "err", err)
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
	key := string(s.ID()) + "/" + string(e.RequestID)
	if e.ResponseStatusCode != 0 || e.ResponseErrorReason != "" {
		route := r.opened(key, "")
		if route == nil || e.ResponseErrorReason != "" {
			r.decide(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
			return
		}
		r.running.Add(1)
		go r.changeResponse(s, e, route)
		return
	}
	var route *Route
	if e.RedirectedRequestID != "" {
		route = r.opened(string(s.ID())+"/"+string(e.RedirectedRequestID), key)
	}
	if route == nil {
		route = r.match(key, e.Request.URL)
	}
	switch {
	case route == nil:
		r.decide(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
	case route.Abort != "":
		r.decide(s, fetch.CommandFailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: abortReasons[route.Abort]})
	case route.changesResponse():
		r.decide(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID, InterceptResponse: new(true)})
	case route.responds():
		r.decide(s, fetch.CommandFulfillRequest, ownResponse(route, e))
	default:
		r.decide(s, fetch.CommandContinueRequest, changedRequest(route, e))
	}
}

// match finds the route of a URL and counts its use.
func (r *Router) match(key, url string) *Route {
	url, _, _ = strings.Cut(url, "#")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, route := range r.routes {
		if route.spent() || !route.matches.MatchString(url) {
			continue
		}
		route.used++
		if route.changesResponse() {
			if route.open == nil || len(route.open) > maxOpen {
				route.open = map[string]bool{}
			}
			route.open[key] = true
		}
		return &route.Route
	}
	return nil
}

// opened finds the route of a request whose response must be changed. If a redirect
// follows, next replaces the request among the open ones.
func (r *Router) opened(key, next string) *Route {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, route := range r.routes {
		if !route.open[key] {
			continue
		}
		if next != "" {
			delete(route.open, key)
			route.open[next] = true
		}
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
	if wanted := header("Access-Control-Request-Method"); wanted != "" && e.Request.Method == "OPTIONS" {
		params.ResponseCode = 204
		params.ResponseHeaders = append(allowed, &fetch.HeaderEntry{Name: "Access-Control-Allow-Methods", Value: wanted})
		if names := header("Access-Control-Request-Headers"); names != "" {
			params.ResponseHeaders = append(params.ResponseHeaders, &fetch.HeaderEntry{Name: "Access-Control-Allow-Headers", Value: names})
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
	params := fetch.ContinueRequestParams{RequestID: e.RequestID, Method: route.Method}
	if route.RequestBody != nil {
		params.PostData = []byte(*route.RequestBody)
	}
	if len(route.Headers) > 0 || len(route.RemoveHeaders) > 0 {
		var headers []*fetch.HeaderEntry
		for name, value := range e.Request.Headers {
			headers = append(headers, &fetch.HeaderEntry{Name: name, Value: fmt.Sprint(value)})
		}
		params.Headers = route.entries(headers)
	}
	return params
}

// responseTimeout bounds the wait for the rest of a response that must be changed:
// some responses never end.
const responseTimeout = 30 * time.Second

// changeResponse changes the server's response. The router owns its goroutine.
func (r *Router) changeResponse(s *cdp.Session, e *fetch.EventRequestPaused, route *Route) {
	defer r.running.Done()
	ctx, cancel := context.WithTimeout(context.Background(), responseTimeout)
	defer cancel()
	redirect := e.ResponseStatusCode >= 300 && e.ResponseStatusCode < 400 && slices.ContainsFunc(e.ResponseHeaders, func(h *fetch.HeaderEntry) bool {
		return strings.EqualFold(h.Name, "Location")
	})
	if redirect { // the route applies to the target of the redirect
		r.decide(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		return
	}
	status := cmp.Or(int64(route.Status), e.ResponseStatusCode)
	var body []byte
	switch {
	case route.Body != nil:
		body = []byte(*route.Body)
	case len(route.Replace) > 0:
		got, err := protocol.Call(ctx, s, fetch.GetResponseBody, fetch.GetResponseBodyParams{RequestID: e.RequestID})
		if err != nil {
			r.opts.Logger.Warn("page: a response was not changed", "url", e.Request.URL, "err", err)
			r.decide(s, fetch.CommandContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
			return
		}
		body = got.Body
		for _, c := range route.Replace {
			body = bytes.ReplaceAll(body, []byte(c.Find), []byte(c.With))
		}
	default:
		r.decide(s, fetch.CommandContinueResponse, fetch.ContinueResponseParams{
			RequestID: e.RequestID, ResponseCode: status, ResponseHeaders: route.entries(e.ResponseHeaders),
		})
		return
	}
	// The body is decoded now, and its length differs.
	headers := route.entries(e.ResponseHeaders, "Content-Encoding", "Content-Length", "Transfer-Encoding")
	r.decide(s, fetch.CommandFulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: status, ResponseHeaders: headers, Body: body})
}
