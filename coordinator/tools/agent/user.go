package agent

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// The user of a window decides what an agent may do there, and is notified of what it
// does. In a browser without a window the user can be reached by `coordinator show`.

// presence is how windows know an agent.
type presence struct {
	client vscodeipc.ClientInfo
	start  time.Time
	window *registry.Source    // that lists the agent; nil: none
	page   string              // id of the page that it works in; empty: none
	last   *vscodeipc.Activity // the last call that no window was notified of; nil: none
	// running are the calls that have not ended, the oldest first.
	running []*runningCall
}

// listed is the agent in the list of a window. Agent.mu is held.
func (p *presence) listed() vscodeipc.ConnectedClient {
	return vscodeipc.ConnectedClient{
		ID: p.client.ID, Name: p.client.Name, Version: p.client.Version, Kind: "mcp", Since: p.start.UnixMilli(),
		Page: p.page, Running: p.longRunning(),
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
		former.Announce(a.presence.client.ID, []vscodeipc.ConnectedClient{})
	}
	a.announce()
}

// worksIn notifies the agent's window of the page that the agent works in; empty: none.
func (a *Agent) worksIn(page string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.presence.page != page {
		a.presence.page = page
		a.announce()
	}
}

// announce notifies the agent's window, if there is one; mu is held.
func (a *Agent) announce() {
	if p := a.presence; p.window != nil {
		p.window.Announce(p.client.ID, []vscodeipc.ConnectedClient{p.listed()})
	}
}

// report notifies the window's user of a call. Where there is none it keeps the call for
// [Agent.Unlisted].
func (c *Call) report(ctx context.Context, start time.Time, err error) {
	done := vscodeipc.Activity{
		Client: c.Agent.Info().ID, Time: start.UnixMilli(), Act: c.Request.Operation.Name,
		Target:  c.Agent.Secrets.Hide(c.subject()),
		Outcome: "done", OK: err == nil,
	}
	if p := cmp.Or(c.effect.page, c.Agent.lastPage()); p != nil {
		// What follows may hold a secret.
		done.URL, _, _ = strings.Cut(p.URL(), "#")
		done.URL, _, _ = strings.Cut(done.URL, "?")
	}
	if err != nil {
		text := err.Error()
		if denied, ok := errors.AsType[*policy.DeniedError](err); ok {
			text = "refused: " + strings.TrimSuffix(denied.Reason, ".") // the entry names the operation already
		}
		text, _, _ = strings.Cut(text, "\n")
		done.Outcome = limit(text, 200)
	}
	if source := c.permission.reported; source != nil {
		done.Details = c.details()
		if p := c.pictured(ctx, err); p != nil {
			c.reportPictured(done, p)
			return
		}
		source.Report(func() vscodeipc.Activity { return done })
		return
	}
	done = registry.Public(done, "mcp")
	c.Agent.mu.Lock()
	defer c.Agent.mu.Unlock()
	c.Agent.presence.last = &done
}

// lastPage is the page in which the agent works; nil: it is not known.
func (a *Agent) lastPage() *page.Page {
	last := a.inUse()
	if last == nil || last.ended() {
		return nil
	}
	return last.browser.Attached(a.placeIn(last).current())
}

// subject is what the call is about, as reports name it.
func (c *Call) subject() string {
	target := cmp.Or(c.effect.target, c.permission.question.target)
	if c.Request.Subject == nil {
		return target
	}
	return c.Request.Subject(target)
}
