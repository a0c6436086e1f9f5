package access

import (
	"slices"
	"strings"

	"browser-coordinator/cdpproxy"
)

// connected is a client of the endpoint. One that was stopped is kept without its
// connection, so that its human can let it go on, and since clients come back.
type connected struct {
	client *cdpproxy.Client
	end    func(reason string) // nil: not connected
}

// Joined is for cdpproxy.
func (r *Rule) Joined(c *cdpproxy.Client, end func(reason string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.identity(c) != c.ID {
		end(stoppedReason)
		return // the one that was stopped, back again
	}
	r.clients[c.ID] = &connected{c, end}
	r.notify()
}

// Left is for cdpproxy.
func (r *Rule) Left(c *cdpproxy.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.clients[c.ID]; known == nil {
		return
	} else if r.isStopped(c.ID) {
		known.end = nil
	} else {
		delete(r.clients, c.ID)
	}
	r.notify()
}

// Clients returns the clients that are connected or stopped, the oldest first,
// and a channel that is closed when that is no longer true.
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
	return all, r.changed
}

// notify is called with r.mu held.
func (r *Rule) notify() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// stoppedReason stands in a close frame, where 123 bytes have room.
const stoppedReason = "stopped by the human in VS Code"

// follow keeps to what the human chooses until Close: who is stopped is sent
// away at once.
func (r *Rule) follow() {
	defer r.running.Done()
	for {
		s, chosen := r.human.Access()
		r.mu.Lock()
		changed := false
		for id, known := range r.clients {
			stopped := slices.Contains(s.Stopped, id)
			if stopped && known.end != nil {
				known.end(stoppedReason)
			} else if !stopped && known.end == nil {
				delete(r.clients, id)
				changed = true
			}
		}
		if changed {
			r.notify()
		}
		r.mu.Unlock()
		select {
		case <-chosen:
		case <-r.ctx.Done():
			return
		}
	}
}

func (r *Rule) isStopped(id string) bool {
	s, _ := r.human.Access()
	return slices.Contains(s.Stopped, id)
}

// identity is the id of c, or that of a stopped client which c seems to be. A
// client that is sent away often comes back at once; all that is known of it then
// is how it calls itself. r.mu is held.
func (r *Rule) identity(c *cdpproxy.Client) string {
	s, _ := r.human.Access()
	for _, id := range s.Stopped {
		if known := r.clients[id]; known != nil && known.client.UserAgent == c.UserAgent && known.client.Name == c.Name {
			return id
		}
	}
	return c.ID
}
