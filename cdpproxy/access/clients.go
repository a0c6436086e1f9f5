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
	client  *cdpproxy.Client
	end     func(reason string)
	program *program // nil: the user was not asked
	holds   []held
}

// Register implements [cdpproxy.Rule].
func (r *Rule) Register(c *cdpproxy.Client, end func(reason string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, _ := r.user.Access()
	switch { // it may have changed since Join
	case s.Stops(c.Name):
		end(stoppedReason)
		return
	case s.Mode.Stricter(policy.Mode(c.Access)):
		end(stricterReason)
		return
	}
	client := &connected{client: c, end: end}
	if s.Mode == policy.ModeAsk {
		if client.program = r.programs[programOf(c)]; client.program != nil {
			client.program.connections++
		}
	}
	r.clients[c.ID] = client
	r.changed.Notify()
}

// Unregister implements [cdpproxy.Rule].
func (r *Rule) Unregister(c *cdpproxy.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client := r.clients[c.ID]
	if client == nil {
		return // it was not admitted
	}
	if p := client.program; p != nil {
		p.connections--
		p.expiry = time.Now().Add(remembered)
	}
	delete(r.clients, c.ID)
	if len(r.clients) == 0 {
		r.clients = map[string]*connected{} // a map never shrinks
	}
	r.changed.Notify()
}

// Clients returns the connected clients, oldest first, and a channel that is closed
// when that list changes.
func (r *Rule) Clients() ([]*cdpproxy.Client, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*cdpproxy.Client
	for _, client := range r.clients {
		all = append(all, client.client)
	}
	slices.SortFunc(all, func(a, b *cdpproxy.Client) int {
		if order := a.Since.Compare(b.Since); order != 0 {
			return order
		}
		return strings.Compare(a.ID, b.ID)
	})
	return all, r.changed.Next()
}

// Reasons in a close frame, which has room for 123 bytes.
const (
	stoppedReason  = "stopped by the user in the window"
	stricterReason = "the user has chosen a stricter access mode in the window; connect again to go on under it"
	refusedReason  = "the user of the window does not let this client connect"
)

// follow disconnects the clients that the user stops, and all when the user chooses a
// stricter mode than the former one: what a client has left in the browser, such as a
// script for the next document, ends with its connection. It runs until Close.
func (r *Rule) follow(former policy.State) {
	for {
		s, changed := r.user.Access()
		r.mu.Lock()
		for _, client := range r.clients {
			switch {
			case s.Stops(client.client.Name):
				client.end(stoppedReason)
				delete(r.programs, programOf(client.client)) // also under another name it is asked about
			case s.Revokes(former, client.client.Name):
				client.end(stricterReason)
			}
		}
		for id, p := range r.programs {
			if s.Mode != former.Mode || s.Stops(p.name) {
				delete(r.programs, id)
			}
		}
		r.mu.Unlock()
		former = s
		select {
		case <-changed:
		case <-r.ctx.Done():
			return
		}
	}
}
