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

type statusClient struct {
	Number   uint64
	Agent    string
	Path     string
	Browser  string
	Since    string
	Up, Down string
}

type status struct {
	URL       string
	Browser   string // empty: none
	Help      string
	Clients   []statusClient
	Served    uint64 // clients so far
	Browsers  uint64 // how many times the browser was replaced
	Refusals  uint64
	Protected bool
	Held      bool // clients that find no browser wait
}

// serveStatus shows the user the state of the endpoint, without JavaScript.
func (p *Proxy) serveStatus(w http.ResponseWriter, r *http.Request, mount string) {
	s := status{
		URL:       "http://" + ownHost(r) + mount,
		Help:      p.noBrowserHelp(),
		Served:    p.totals.served.Load(),
		Browsers:  p.totals.browsers.Load(),
		Refusals:  p.totals.refusals.Load(),
		Protected: p.opts.Rule != nil,
		Held:      p.opts.HoldTimeout > 0 && p.noBrowserWhy() == "",
	}
	if b, _ := p.source.Browser(); b != nil {
		s.Browser = b.label()
	}
	now := time.Now()
	for _, rel := range p.relays.list() {
		s.Clients = append(s.Clients, statusClient{
			Number: rel.who.Number, Agent: rel.who.UserAgent, Path: rel.who.Path, Browser: rel.browser.label(),
			Since: now.Sub(rel.who.Since).Round(time.Second).String(),
			Up:    p.sent(rel), Down: messagesAndBytes(rel.passed.messagesDown.Load(), rel.passed.bytesDown.Load()),
		})
	}
	slices.SortFunc(s.Clients, func(a, b statusClient) int { return int(a.Number) - int(b.Number) })

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
		held := ""
		if s.Held {
			held = " Clients that come are held for the next one."
		}
		write("<p><b>The window has no browser now.</b>%v %v</p>\n", held, s.Help)
	} else {
		write("<p>Behind it is <b>%v</b>.</p>\n", s.Browser)
	}
	if s.Protected {
		write("<p>What clients may do in the window's browser is decided by its settings.</p>\n")
	}
	write("<h2>Connected now: %v</h2>\n", len(s.Clients))
	if len(s.Clients) > 0 {
		write("<table>\n<tr><th>No.<th>Client<th>Connected to<th>Since<th>Sent<th>Received\n")
		for _, c := range s.Clients {
			write("<tr><td>%v<td>%v<td>%v <code>%v</code><td>%v<td>%v<td>%v\n",
				c.Number, cmp.Or(c.Agent, "does not say its name"), c.Browser, c.Path, c.Since, c.Up, c.Down)
		}
		write("</table>\n")
	}
	write("<h2>Since this endpoint is served</h2>\n")
	write("<p>Clients: %v. Changes of the browser: %v. Requests refused: %v.</p>\n", s.Served, s.Browsers, s.Refusals)
	write("<p>Reload this page to see it as it is then.</p>\n</html>\n")
	return page.String()
}

// sent describes the client's messages. Without a rule they are not read.
func (p *Proxy) sent(r *relay) string {
	if p.opts.Rule == nil {
		return size(r.passed.bytesUp.Load())
	}
	return messagesAndBytes(r.passed.messagesUp.Load(), r.passed.bytesUp.Load())
}

func messagesAndBytes(messages, bytes uint64) string {
	if messages == 1 {
		return "1 message, " + size(bytes)
	}
	return fmt.Sprintf("%d messages, %s", messages, size(bytes))
}

// size formats a number of bytes for the user.
func size(n uint64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	default:
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
}
