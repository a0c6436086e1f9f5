package cdpproxy

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// statusHead is how the page begins, up to its title. The page is not written by
// html/template: what that calls by name at run time keeps the linker from leaving
// out any method of any type.
//
//go:embed status.html
var statusHead string

// Status is the state of an endpoint.
type Status struct {
	About
	Browser *Browser // nil: none
	Waiting int      // requests that found no browser, and wait for one
	Clients []*Client
}

// About is what the embedding program adds to the status of its endpoint.
type About struct {
	Program string // the command that serves the endpoint
	Access  string // the access mode of its clients
	// Agents asks the window for those who use its browser without the endpoint, until ctx
	// ends. Nil: there are none.
	Agents func(ctx context.Context) ([]Agent, error)
}

// Agent is an MCP session.
type Agent struct {
	Name, Version string
	Since         time.Time
	Last          *LastAction // nil: nothing yet
}

// LastAction is what a client did last.
type LastAction struct {
	Time time.Time
	Text string // for the user
}

// Status returns the present state, once Serve has begun.
func (p *Proxy) Status() Status {
	s := Status{Waiting: int(p.waiting.Load())}
	if p.opts.About != nil {
		s.About = p.opts.About()
	}
	s.Browser, _ = p.source.Browser()
	for _, rel := range p.list() {
		s.Clients = append(s.Clients, rel.who)
	}
	slices.SortFunc(s.Clients, func(a, b *Client) int { return cmp.Compare(a.Number, b.Number) })
	return s
}

// serveStatus shows the user the state of the endpoint, without JavaScript.
func (p *Proxy) serveStatus(w http.ResponseWriter, r *http.Request, mount string) {
	s := p.Status()
	var agents []Agent
	var unknown error
	if s.Agents != nil {
		agents, unknown = s.Agents(r.Context())
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	header.Set("Referrer-Policy", "no-referrer") // the address may carry the token
	header.Set("Cache-Control", "no-store")
	p.bound(w)
	w.Write([]byte(s.html("http://"+ownHost(r)+mount, p.opts.NoBrowserHelp(), agents, unknown)))
}

// html is the page. It escapes all texts: a browser or client chooses its name
// freely.
func (s *Status) html(url, help string, agents []Agent, unknown error) string {
	var page strings.Builder
	page.WriteString(statusHead)
	write := func(format string, values ...any) {
		for i, v := range values {
			values[i] = html.EscapeString(fmt.Sprint(v))
		}
		fmt.Fprintf(&page, format, values...)
	}
	if s.Browser == nil {
		write("<title>CDP endpoint</title>\n")
	} else {
		write("<title>CDP endpoint: %v</title>\n", s.Browser.label())
	}
	write("<h1>CDP endpoint of this window</h1>\n")
	write("<p>Give CDP clients this address: <code>%v</code>. It stays the same when the browser restarts.</p>\n", url)
	switch {
	case s.Browser != nil:
		write("<p>Behind it is <b>%v</b>. What clients may do in it is decided by the window's settings%v.</p>\n",
			s.Browser.label(), now(s.Access))
	case s.Waiting > 0:
		write("<p><b>The window has no browser now, and %v for one.</b> %v</p>\n",
			count(s.Waiting, "client waits", "clients wait"), help)
	default:
		write("<p><b>The window has no browser now.</b> %v</p>\n", help)
	}
	write("<h2>Connected now: %v</h2>\n", len(agents)+len(s.Clients))
	if len(agents) > 0 {
		write("<table>\n<tr><th>Agent<th>Last action<th>Since\n")
		for _, a := range agents {
			write("<tr><td>%v<td>%v<td>%v\n", strings.TrimSpace(a.Name+" "+a.Version), a.Last, ago(a.Since))
		}
		write("</table>\n")
	}
	if unknown != nil {
		write("<p>The agents that are connected are not known: %v.</p>\n", unknown)
	}
	if len(s.Clients) > 0 {
		write("<table>\n<tr><th>No.<th>CDP client<th>Connected to<th>Last action<th>Since\n")
		for _, c := range s.Clients {
			write("<tr><td>%v<td>%v<td>%v <code>%v</code><td>%v<td>%v\n",
				c.Number, cmp.Or(c.UserAgent, "does not say its name"), c.browser.label(), c.Path,
				c.Last.Load(), ago(c.Since))
		}
		write("</table>\n")
	}
	if s.Program != "" {
		write("<p>Served by <code>%v</code>, process %v.</p>\n", s.Program, os.Getpid())
	}
	write("<p>Reload this page to see it as it is then.</p>\n</html>\n")
	return page.String()
}

// String is the action with its age.
func (a *LastAction) String() string {
	if a == nil {
		return "–"
	}
	return fmt.Sprintf("%s, %v ago", a.Text, ago(a.Time))
}

func ago(t time.Time) time.Duration { return time.Since(t).Round(time.Second) }

// now adds the present access mode to a sentence.
func now(mode string) string {
	if mode == "" {
		return ""
	}
	return ", now " + mode
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
