package access

import (
	"slices"
	"strings"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/policy"
)

// connected is a client of the endpoint.
type connected struct {
	client *cdpproxy.Client
	end    func(reason string)

	refusedAt time.Time // when the user last refused an operation; zero: never
	reason    string    // for that refusal
}

// Joined implements [cdpproxy.Rule].
func (r *Rule) Joined(c *cdpproxy.Client, end func(reason string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, _ := r.user.Access(); stoppedAs(c, s) != "" {
		end(stoppedReason)
		return
	}
	r.clients[c.ID] = &connected{client: c, end: end}
	r.notify()
}

// Left implements [cdpproxy.Rule].
func (r *Rule) Left(c *cdpproxy.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients[c.ID] == nil {
		return // it was not admitted
	}
	delete(r.clients, c.ID)
	if len(r.clients) == 0 {
		r.clients = map[string]*connected{} // a map never shrinks
	}
	r.notify()
}

// Clients returns the connected clients, oldest first, and a channel that is closed
// when that list changes.
func (r *Rule) Clients() ([]*cdpproxy.Client, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*cdpproxy.Client
	for _, known := range r.clients {
		all = append(all, known.client)
	}
	slices.SortFunc(all, func(a, b *cdpproxy.Client) int {
		if order := a.Since.Compare(b.Since); order != 0 {
			return order
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, r.changed.Next()
}

// notify is called with r.mu held.
func (r *Rule) notify() {
	r.changed.Notify()
}

// stoppedReason is the reason in a close frame, which has room for 123 bytes.
const stoppedReason = "stopped by the user in the window"

// follow disconnects the clients that the user stops, until Close.
func (r *Rule) follow() {
	defer r.running.Done()
	for {
		s, chosen := r.user.Access()
		r.mu.Lock()
		for _, known := range r.clients {
			if stoppedAs(known.client, s) != "" {
				known.end(stoppedReason)
			}
		}
		r.mu.Unlock()
		select {
		case <-chosen:
		case <-r.ctx.Done():
			return
		}
	}
}

// stoppedAs returns the id under which the user has stopped c, or "". A stopped
// client often reconnects at once, maybe to another coordinator. That one knows the
// client only by the name that it gives itself. So a stop applies to all
// connections with the same name.
func stoppedAs(c *cdpproxy.Client, s policy.State) string {
	for _, id := range s.Stopped {
		if c.Resembles(id) {
			return id
		}
	}
	return ""
}
