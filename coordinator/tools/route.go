package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/routing"
)

type replaceIn struct {
	Find string `json:"find"`
	With string `json:"with"`
}

type routeIn struct {
	Pattern       string      `json:"pattern" jsonschema:"glob: **/api/users, **/*.{png,jpg}, /api/* of any host"`
	Status        int         `json:"status,omitempty" jsonschema:"answer with it (200)"`
	Body          *string     `json:"body,omitempty" jsonschema:"answer with it"`
	ContentType   string      `json:"contentType,omitempty"`
	Headers       []string    `json:"headers,omitempty" jsonschema:"Name: Value, to add to the answer, or without one to the request"`
	RemoveHeaders string      `json:"removeHeaders,omitempty" jsonschema:"names with commas"`
	Abort         string      `json:"abort,omitempty" jsonschema:"fail with: failed, timedout, connectionrefused, blockedbyclient …"`
	FromServer    bool        `json:"fromServer,omitempty" jsonschema:"ask the server and change only what is given"`
	Replace       []replaceIn `json:"replace,omitempty" jsonschema:"texts in the server's answer"`
	Method        string      `json:"method,omitempty" jsonschema:"send the request with it"`
	RequestBody   *string     `json:"requestBody,omitempty" jsonschema:"send the request with it"`
	Times         int         `json:"times,omitempty" jsonschema:"only that many requests"`
	inWindow
}

type unrouteIn struct {
	Pattern string `json:"pattern,omitempty" jsonschema:"default: all"`
	inWindow
}

type networkStateIn struct {
	State string `json:"state" jsonschema:"online or offline"`
	inWindow
}

func (s *Server) addRouteTools() {
	add(s, &mcp.Tool{
		Name:        "browser_route",
		Description: "Answer, change or fail requests of your pages that match, until the session ends",
		Annotations: acts("Route requests"),
	}, route)
	add(s, &mcp.Tool{Name: "browser_route_list", Description: "List the routes", Annotations: reads("List routes")}, routeList)
	add(s, &mcp.Tool{Name: "browser_unroute", Description: "Remove routes", Annotations: adjusts("Remove routes")}, unroute)
	add(s, &mcp.Tool{
		Name:        "browser_network_state_set",
		Description: "Take your pages offline, or back online",
		Annotations: adjusts("Set the network state"),
	}, setNetworkState)
}

// headers reads "Name: Value" lines.
func (in *routeIn) headers() ([]routing.Header, error) {
	var headers []routing.Header
	for _, line := range in.Headers {
		name, value, found := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if !found || name == "" || strings.ContainsAny(line, "\r\n") {
			return nil, fmt.Errorf("headers: %q is not of the form Name: Value", line)
		}
		headers = append(headers, routing.Header{Name: name, Value: strings.TrimSpace(value)})
	}
	return headers, nil
}

func route(ctx context.Context, a *agent, in routeIn) (*answer, error) {
	headers, err := in.headers()
	if err != nil {
		return nil, err
	}
	r := routing.Route{
		Pattern: in.Pattern, Status: in.Status, Body: in.Body, ContentType: in.ContentType, Headers: headers,
		Abort: strings.ToLower(in.Abort), FromServer: in.FromServer, Method: in.Method, RequestBody: in.RequestBody, Times: in.Times,
	}
	for name := range strings.SplitSeq(in.RemoveHeaders, ",") {
		if name = strings.TrimSpace(name); name != "" {
			r.RemoveHeaders = append(r.RemoveHeaders, name)
		}
	}
	for _, c := range in.Replace {
		r.Replace = append(r.Replace, routing.Replacement{Find: c.Find, With: c.With})
	}
	browser, err := a.routed(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := browser.Routing().Add(ctx, r); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Routed %s", a.routeLine(r))
	return out, nil
}

// routed is the browser, with the agent's page attached.
func (a *agent) routed(ctx context.Context, window string) (*page.Browser, error) {
	l, err := a.linkTo(ctx, window)
	if err != nil {
		return nil, err
	}
	_, err = a.currentPage(ctx, l)
	return l.browser, err
}

func routeList(ctx context.Context, a *agent, in inWindow) (*answer, error) {
	browser, err := a.browserFor(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	routes := browser.Routing().Routes()
	for i, r := range routes {
		out.addf("%d. %s", i+1, a.routeLine(r))
	}
	if len(routes) == 0 {
		out.addf("There are none.")
	}
	return out, nil
}

// routeLine describes a route.
func (a *agent) routeLine(r routing.Route) string {
	var does []string
	say := func(said bool, format string, args ...any) {
		if said {
			does = append(does, fmt.Sprintf(format, args...))
		}
	}
	say(r.Abort != "", "fails with %s", r.Abort)
	say(r.FromServer, "the server's answer")
	say(r.Status != 0, "status %d", r.Status)
	if r.Body != nil {
		say(true, "body %s", a.brief(*r.Body))
	}
	say(r.ContentType != "", "content type %s", r.ContentType)
	for _, h := range r.Headers {
		say(true, "with %s: %s", h.Name, h.Value)
	}
	say(len(r.RemoveHeaders) > 0, "without %s", strings.Join(r.RemoveHeaders, ", "))
	for _, c := range r.Replace {
		say(true, "%q for %q", c.With, c.Find)
	}
	say(r.Method != "", "method %s", r.Method)
	if r.RequestBody != nil {
		say(true, "request body %s", a.brief(*r.RequestBody))
	}
	say(r.Times > 0, "%d times", r.Times)
	if len(does) == 0 {
		return r.Pattern + ": sent on as it is"
	}
	return r.Pattern + ": " + strings.Join(does, ", ")
}

func unroute(ctx context.Context, a *agent, in unrouteIn) (*answer, error) {
	browser, err := a.browserFor(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	removed, err := browser.Routing().RemoveRoutes(ctx, in.Pattern)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Removed %d routes.", removed)
	return out, nil
}

func setNetworkState(ctx context.Context, a *agent, in networkStateIn) (*answer, error) {
	if err := oneOf("state", in.State, "online", "offline"); err != nil {
		return nil, err
	}
	browser, err := a.routed(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := browser.Routing().SetOffline(ctx, in.State == "offline"); err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Your pages are %s now.", in.State)
	return out, nil
}
