package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page/routing"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/coordinator/tools/export"
)

type routeIn struct {
	Pattern       string   `json:"pattern" about:"glob: **/api/users, **/*.{png,jpg}, /api/* of any host"`
	Status        int      `json:"status,omitempty" about:"answer with it (200)"`
	Body          *string  `json:"body,omitempty" about:"answer with it"`
	ContentType   string   `json:"contentType,omitempty"`
	Headers       []string `json:"headers,omitempty" about:"Name: Value, to add to the answer, or without one to the request"`
	RemoveHeaders string   `json:"removeHeaders,omitempty" about:"names with commas"`
	Abort         string   `json:"abort,omitempty" about:"fail with: failed, timedout, connectionrefused, blockedbyclient …"`
	Times         int      `json:"times,omitempty" about:"only that many requests"`
	inWindow
}

var _ = define(Tool{
	Name: "browser_route", Title: "Route requests",
	Description: "Answer, change or fail requests of your pages that match, until the session ends",
	Set:         "network", Effect: Acts,
	Notes: "A pattern is a glob over the whole URL: `*` matches anything but `/`, `**` anything, `{a,b}` one of " +
		"both. One that begins with `/` matches any host. The latest route that matches does the first of " +
		"these:\n\n" +
		"1. `abort`: the request fails.\n" +
		"2. `status`, `body` or `contentType`: the route responds in place of the server, for any origin.\n" +
		"3. Otherwise the request is sent with other headers.\n\n" +
		"`headers` and `removeHeaders` apply to the response in case 2, to the request in case 3. Routes and the " +
		"offline state apply to the tabs that the session works in or has opened, with their frames and workers, " +
		"bypass service workers, and end with the session or the browser.",
	Example: `{"pattern": "**/api/cart", "status": 500}`,
}, calls[routeIn]{
	Beyond: everySite[routeIn],
	Do:     route,
	Code: func(in routeIn, d *agent.Record) export.Step {
		headers, _ := in.headers()
		var list, members []javascript.Expression
		for _, h := range headers {
			list = append(list, member(h.Name, d.Text(h.Value)))
		}
		var does javascript.Expression
		switch {
		case in.Abort != "":
			does = javascript.Format("abort($)", strings.ToLower(in.Abort))
		case in.Status != 0 || in.Body != nil || in.ContentType != "":
			if in.Status != 0 {
				members = append(members, javascript.Format("status: $", in.Status))
			}
			if in.ContentType != "" {
				members = append(members, javascript.Format("contentType: $", in.ContentType))
			}
			if list != nil {
				members = append(members, javascript.Format("headers: $", object(list)))
			}
			if in.Body != nil {
				members = append(members, javascript.Format("body: $", *in.Body))
			}
			does = javascript.Format("fulfill($)", object(members))
		default:
			for _, name := range in.removed() {
				list = append(list, member(name, javascript.Format("undefined")))
			}
			list = slices.Insert(list, 0, javascript.Format("...route.request().headers()"))
			does = javascript.Format("continue({ headers: { $ } })", list)
		}
		arguments := []javascript.Expression{javascript.Format("$, (route) => route.$", routed(in.Pattern), does)}
		if in.Times > 0 {
			arguments = append(arguments, javascript.Format("{ times: $ }", in.Times))
		}
		return code(javascript.Format("$.context().route($)", d.Page, arguments))
	},
})

// member is a member of an object, whose name is lower case, as those of headers.
func member(name string, value any) javascript.Expression {
	return javascript.Format("$: $", javascript.Key(strings.ToLower(name)), value)
}

// routed is a pattern of a route, in Playwright's syntax.
func routed(pattern string) string {
	if strings.HasPrefix(pattern, "/") { // of any host
		pattern = "*://*" + pattern
	}
	return pattern
}

var _ = define(Tool{
	Name: "browser_route_list", Title: "List routes", Description: "List the routes",
	Set: "network", Effect: Reads,
	Returns: "the routes, in the order in which they are tried",
	Example: `{}`,
}, calls[inWindow]{Do: routeList})

type unrouteIn struct {
	Pattern string `json:"pattern,omitempty" about:"default: all"`
	inWindow
}

var _ = define(Tool{
	Name: "browser_unroute", Title: "Remove routes", Description: "Remove routes",
	Set: "network", Effect: Adjusts, Traits: agent.Traits{Tabless: true},
	Shell:   []command{{Args: "[pattern]"}},
	Example: `{}`,
}, calls[unrouteIn]{
	Beyond: everySite[unrouteIn],
	Do:     unroute,
	Code: func(in unrouteIn, d *agent.Record) export.Step {
		if in.Pattern == "" {
			return code(javascript.Format("$.context().unrouteAll()", d.Page))
		}
		return code(javascript.Format("$.context().unroute($)", d.Page, routed(in.Pattern)))
	},
})

type networkStateIn struct {
	State string `json:"state" oneof:"online offline"`
	inWindow
}

var _ = define(Tool{
	Name: "browser_network_state_set", Title: "Set the network state",
	Description: "Take your pages offline, or back online",
	Set:         "network", Effect: Adjusts,
	Example: `{"state": "offline"}`,
}, calls[networkStateIn]{
	Beyond: everySite[networkStateIn],
	Do:     setNetworkState,
	Code: func(in networkStateIn, d *agent.Record) export.Step {
		return code(javascript.Format("$.context().setOffline($)", d.Page, in.State == "offline"))
	},
})

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
	add := func(present bool, format string, args ...any) {
		if present {
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
