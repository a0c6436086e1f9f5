package cdpproxy

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"net/http"
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

type status struct {
	URL     string
	Browser string // empty: none
	Help    string
	Clients []*Client
}

// serveStatus shows the user the state of the endpoint, without JavaScript.
func (p *Proxy) serveStatus(w http.ResponseWriter, r *http.Request, mount string) {
	s := status{URL: "http://" + ownHost(r) + mount, Help: p.noBrowserHelp()}
	if b, _ := p.source.Browser(); b != nil {
		s.Browser = b.label()
	}
	for _, rel := range p.relays.list() {
		s.Clients = append(s.Clients, rel.who)
	}
	slices.SortFunc(s.Clients, func(a, b *Client) int { return cmp.Compare(a.Number, b.Number) })

	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	header.Set("Referrer-Policy", "no-referrer") // the address may carry the token
	header.Set("Cache-Control", "no-store")
	p.bound(w)
	w.Write([]byte(s.html()))
}

// html is the page. It escapes all texts: a browser or client chooses its name
// freely.
func (s *status) html() string {
	var page strings.Builder
	page.WriteString(statusHead)
	write := func(format string, values ...any) {
		for i, v := range values {
			values[i] = html.EscapeString(fmt.Sprint(v))
		}
		fmt.Fprintf(&page, format, values...)
	}
	if s.Browser == "" {
		write("<title>CDP endpoint</title>\n")
	} else {
		write("<title>CDP endpoint: %v</title>\n", s.Browser)
	}
	write("<h1>CDP endpoint of this window</h1>\n")
	write("<p>Give CDP clients this address: <code>%v</code>. It stays the same when the browser restarts.</p>\n", s.URL)
	if s.Browser == "" {
		write("<p><b>The window has no browser now.</b> %v</p>\n", s.Help)
	} else {
		write("<p>Behind it is <b>%v</b>. What clients may do in it is decided by the window's settings.</p>\n", s.Browser)
	}
	write("<h2>Connected now: %v</h2>\n", len(s.Clients))
	if len(s.Clients) > 0 {
		write("<table>\n<tr><th>No.<th>Client<th>Connected to<th>Since\n")
		for _, c := range s.Clients {
			write("<tr><td>%v<td>%v<td>%v <code>%v</code><td>%v\n",
				c.Number, cmp.Or(c.UserAgent, "does not say its name"), c.browser.label(), c.Path, time.Since(c.Since).Round(time.Second))
		}
		write("</table>\n")
	}
	write("<p>Reload this page to see it as it is then.</p>\n</html>\n")
	return page.String()
}
