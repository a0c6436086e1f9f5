package cdpproxy

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Status is the state of an endpoint.
type Status struct {
	Details
	Browser *Browser // nil: none
	Waiting int      // requests that found no browser, and wait for one
	Clients []*Client
}

// Details is what the embedding program adds to the status of its endpoint.
type Details struct {
	Program string // the command that serves the endpoint
	Access  string // the access mode of its clients
}

// LastAction is what a client did last.
type LastAction struct {
	Time time.Time
	Text string // for the user
}

// Status returns the present state, once Serve has begun.
func (p *Proxy) Status() Status {
	s := Status{Waiting: int(p.waiting.Load())}
	if p.opts.Details != nil {
		s.Details = p.opts.Details()
	}
	s.Browser, _ = p.source.Browser()
	for _, rel := range p.list() {
		s.Clients = append(s.Clients, rel.client)
	}
	slices.SortFunc(s.Clients, func(a, b *Client) int { return cmp.Compare(a.Number, b.Number) })
	return s
}

// serveStatus has the address and the browser for a user who opens the address.
func (p *Proxy) serveStatus(w http.ResponseWriter, r *http.Request, mount string) {
	s := p.Status()
	browser := "It has no browser now. " + p.opts.NoBrowserHelp()
	if s.Browser != nil {
		browser = "Its browser is " + s.Browser.label() + "."
	}
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	p.limitWrite(w)
	fmt.Fprintf(w, "CDP endpoint of this window\n\nGive CDP clients this address: http://%s%s\n%s\nClients: %d, and %d "+
		"without a browser. `coordinator status` lists them, and `coordinator show` shows the pages.\n", ownHost(r),
		mount, browser, len(s.Clients), s.Waiting)
}
