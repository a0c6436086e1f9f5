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
	if s, _ := r.user.Access(); s.Stops(c.Name) {
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

// Reasons in a close frame, which has room for 123 bytes.
const (
	stoppedReason  = "stopped by the user in the window"
	stricterReason = "the user has chosen a stricter access mode in the window; connect again to go on under it"
)

// follow disconnects the clients that the user stops, and all when the user chooses a
// stricter mode than the former one: what a client has left in the browser, such as a
// script for the next document, ends with its connection. It runs until Close.
func (r *Rule) follow(former policy.State) {
	defer r.running.Done()
	for {
		s, chosen := r.user.Access()
		r.mu.Lock()
		for _, known := range r.clients {
			switch {
			case s.Stops(known.client.Name):
				known.end(stoppedReason)
			case s.Revokes(former, known.client.Name):
				known.end(stricterReason)
			}
		}
		r.mu.Unlock()
		former = s
		select {
		case <-chosen:
		case <-r.ctx.Done():
			return
		}
	}
}
