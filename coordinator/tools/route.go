package tools

import (
	"context"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/page/routing"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
)

type routeIn struct {
	Pattern       string   `json:"pattern" jsonschema:"glob: **/api/users, **/*.{png,jpg}, /api/* of any host"`
	Status        int      `json:"status,omitempty" jsonschema:"answer with it (200)"`
	Body          *string  `json:"body,omitempty" jsonschema:"answer with it"`
	ContentType   string   `json:"contentType,omitempty"`
	Headers       []string `json:"headers,omitempty" jsonschema:"Name: Value, to add to the answer, or without one to the request"`
	RemoveHeaders string   `json:"removeHeaders,omitempty" jsonschema:"names with commas"`
	Abort         string   `json:"abort,omitempty" jsonschema:"fail with: failed, timedout, connectionrefused, blockedbyclient …"`
	Times         int      `json:"times,omitempty" jsonschema:"only that many requests"`
	inWindow
}

type unrouteIn struct {
	Pattern string `json:"pattern,omitempty" jsonschema:"default: all"`
	inWindow
}

type networkStateIn struct {
	State string `json:"state" jsonschema:"online or offline" oneof:"online offline"`
	inWindow
}

func (s *Server) addRouteTools() {
	add(s, mutates("browser_route", "Route requests", "Answer, change or fail requests of your pages that match, until the session ends"), route)
	add(s, reads("browser_route_list", "List routes", "List the routes"), routeList)
	add(s, adjusts("browser_unroute", "Remove routes", "Remove routes"), unroute)
	add(s, adjusts("browser_network_state_set", "Set the network state", "Take your pages offline, or back online"), setNetworkState)
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

// removed reads the names of headers.
func (in *routeIn) removed() (names []string) {
	for name := range strings.SplitSeq(in.RemoveHeaders, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func route(ctx context.Context, c *agent.Call, in routeIn) error {
	headers, err := in.headers()
	if err != nil {
		return err
	}
	r := routing.Route{
		Pattern: in.Pattern, Status: in.Status, Body: in.Body, ContentType: in.ContentType, Headers: headers,
		RemoveHeaders: in.removed(), Abort: strings.ToLower(in.Abort), Times: in.Times,
	}
	browser, err := c.Routed(ctx)
	if err != nil {
		return err
	}
	return c.Done(browser.Routing().Add(ctx, r), "Routed %s", routeLine(c.Out, r))
}

func routeList(ctx context.Context, c *agent.Call, in inWindow) error {
	browser, err := c.Browser(ctx)
	if err != nil {
		return err
	}
	routes := browser.Routing().Routes()
	for i, r := range routes {
		c.Out.Addf("%d. %s", i+1, routeLine(c.Out, r))
	}
	if len(routes) == 0 {
		c.Out.Addf("There are none.")
	}
	return nil
}

// routeLine describes a route.
func routeLine(out *answer.Answer, r routing.Route) string {
	var does []string
	add := func(given bool, format string, args ...any) {
		if given {
			does = append(does, fmt.Sprintf(format, args...))
		}
	}
	add(r.Abort != "", "fails with %s", r.Abort)
	add(r.Status != 0, "status %d", r.Status)
	if r.Body != nil {
		add(true, "body %s", out.Brief(*r.Body))
	}
	add(r.ContentType != "", "content type %s", r.ContentType)
	for _, h := range r.Headers {
		add(true, "with %s: %s", h.Name, h.Value)
	}
	add(len(r.RemoveHeaders) > 0, "without %s", strings.Join(r.RemoveHeaders, ", "))
	add(r.Times > 0, "%d times", r.Times)
	if len(does) == 0 {
		return r.Pattern + ": sent on as it is"
	}
	return r.Pattern + ": " + strings.Join(does, ", ")
}

func unroute(ctx context.Context, c *agent.Call, in unrouteIn) error {
	browser, err := c.Browser(ctx)
	if err != nil {
		return err
	}
	removed, err := browser.Routing().RemoveRoutes(ctx, in.Pattern)
	return c.Done(err, "Removed %d routes.", removed)
}

func setNetworkState(ctx context.Context, c *agent.Call, in networkStateIn) error {
	browser, err := c.Routed(ctx)
	if err != nil {
		return err
	}
	return c.Done(browser.Routing().SetOffline(ctx, in.State == "offline"), "Your pages are %s now.", in.State)
}
