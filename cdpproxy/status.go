package cdpproxy

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"time"
)

//go:embed status.html
var statusHTML string

// statusPage escapes what it shows: names of browsers and agents are anybody's
// text.
var statusPage = template.Must(template.New("status").Parse(statusHTML))

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
	Browsers  uint64 // changes of the browser so far
	Refusals  uint64
	Protected bool
}

// serveStatus shows a person what the endpoint does, without JavaScript.
func (p *Proxy) serveStatus(w http.ResponseWriter, r *http.Request, mount string) {
	s := status{
		URL:       "http://" + ownHost(r) + mount,
		Help:      p.opts.NoBrowserHelp,
		Served:    p.count.Load(),
		Browsers:  p.changes.Load(),
		Refusals:  p.refusals.Load(),
		Protected: p.opts.Rule != nil,
	}
	if b, _ := p.source.Browser(); b != nil {
		s.Browser = b.label()
	}
	now := time.Now()
	p.mu.Lock()
	for rel := range p.relays {
		s.Clients = append(s.Clients, statusClient{
			Number: rel.who.Number, Agent: rel.who.UserAgent, Path: rel.who.Path, Browser: rel.browser.label(),
			Since: now.Sub(rel.who.Since).Round(time.Second).String(),
			Up:    size(rel.bytesUp.Load()), Down: size(rel.bytesDown.Load()),
		})
	}
	p.mu.Unlock()
	slices.SortFunc(s.Clients, func(a, b statusClient) int { return int(a.Number) - int(b.Number) })

	var page bytes.Buffer
	if err := statusPage.Execute(&page, s); err != nil {
		p.refuse(w, r, &refusal{http.StatusInternalServerError, "the status page cannot be shown"})
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	header.Set("Referrer-Policy", "no-referrer") // the address may carry the token
	header.Set("Cache-Control", "no-store")
	w.Write(page.Bytes())
}

// size is a number of bytes for people.
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
