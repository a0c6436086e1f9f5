package agent

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// The user of a window decides what an agent may do there, and is notified of what it
// does. A launched browser has no user to ask.

// presence is how windows know an agent.
type presence struct {
	client vscodeipc.ClientInfo
	since  time.Time
	window *registry.Source    // that lists the agent; nil: none
	page   string              // id of the page that it works in; empty: none
	last   *vscodeipc.Activity // the last call that no window was notified of; nil: none
}

// listed is the agent in the list of a window.
func (p *presence) listed() vscodeipc.ConnectedClient {
	return vscodeipc.ConnectedClient{
		ID: p.client.ID, Name: p.client.Name, Version: p.client.Version, Kind: "mcp", Since: p.since.UnixMilli(),
		Page: p.page,
	}
}

// join notifies a window that the agent uses it, and the former one that the agent no
// longer does; nil: it uses none.
func (a *Agent) join(source *registry.Source) {
	a.mu.Lock()
	defer a.mu.Unlock()
	former := a.presence.window
	if former == source {
		return
	}
	a.presence.window = source
	if former != nil {
		former.Announce("mcp", []vscodeipc.ConnectedClient{})
	}
	a.announce()
}

// worksIn notifies the agent's window of the page that the agent works in; empty: none. mu is
// held.
func (a *Agent) worksIn(page string) {
	if a.presence.page != page {
		a.presence.page = page
		a.announce()
	}
}

// announce notifies the agent's window, if there is one; mu is held.
func (a *Agent) announce() {
	if p := a.presence; p.window != nil {
		p.window.Announce("mcp", []vscodeipc.ConnectedClient{p.listed()})
	}
}

// report notifies the window's user of a call. Where there is none it keeps the call for
// [Agent.Alone].
func (c *Call) report(began time.Time, err error) {
	done := vscodeipc.Activity{
		Client: c.Info().ID, Time: began.UnixMilli(), Act: c.Operation.Name, Target: c.Secrets.Hide(c.subject()),
		Outcome: "done", OK: err == nil,
	}
	if p := cmp.Or(c.effect.page, c.lastPage()); p != nil {
		// What follows may hold a secret.
		done.URL, _, _ = strings.Cut(p.URL(), "#")
		done.URL, _, _ = strings.Cut(done.URL, "?")
	}
	switch {
	case errors.As(err, new(*policy.DeniedError)):
		done.Outcome = "refused"
	case err != nil:
		done.Outcome, _, _ = strings.Cut(err.Error(), "\n")
		done.Outcome = limit(done.Outcome, 200)
	}
	if c.permission.reported {
		c.permission.user.Report(func() vscodeipc.Activity { return done })
		return
	}
	done = registry.Public(done, "mcp")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.presence.last = &done
}

// subject is what the call is about, as reports name it.
func (c *Call) subject() string {
	target := cmp.Or(c.effect.target, c.permission.question.target)
	if c.Subject == nil {
		return target
	}
	return c.Subject(target)
}
