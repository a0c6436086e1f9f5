package tools

import (
	"context"
	"time"

	"browser-coordinator/coordinator/page"
)

// Claims keeps agents of all programs apart: two agents never work in the same page.
type Claims interface {
	// Claim locks a page, by its id, until release is called; false: another agent works in
	// it.
	Claim(page string) (release func(), ok bool)
}

// claimIdle is how long an idle agent keeps its page: hosts leave unused sessions open.
const claimIdle = 5 * time.Minute

// claim makes a page the one that the agent works in, unless another agent does.
func (a *agent) claim(l *link, id string) bool {
	claims := a.server.options.Claims
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.idle == nil {
		a.idle = time.AfterFunc(claimIdle, a.releaseAll)
	} else {
		a.idle.Reset(claimIdle)
	}
	if l.current == id && l.release != nil {
		return true
	}
	release, ok := func() {}, true
	if claims != nil {
		release, ok = claims.Claim(id)
	}
	if !ok {
		return false
	}
	l.unclaim()
	l.current, l.release = id, release
	return true
}

// unclaim releases the page to others; Agent.mu is held. The next call still knows which
// page it was.
func (l *link) unclaim() {
	if l.release != nil {
		l.release()
		l.release = nil
	}
}

// releaseAll is called when the agent has been idle, and at its end.
func (a *agent) releaseAll() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.links {
		l.unclaim()
	}
}

type readOnlyKey struct{}

// readOnly marks the context of a read-only call, which may not open a tab.
func readOnly(ctx context.Context) context.Context {
	return context.WithValue(ctx, readOnlyKey{}, true)
}

func isReadOnly(ctx context.Context) bool {
	is, _ := ctx.Value(readOnlyKey{}).(bool)
	return is
}

// share notifies the agent, once, that it reads a page that another agent works in.
func (a *agent) share(l *link, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.shared != id {
		l.shared = id
		a.news = "Another agent works in the tab that the developer sees. You can read it; your first action opens a tab of your own. "
	}
}

// worksIn reports whether the agent's next action goes to that page.
func (a *agent) worksIn(l *link, p *page.Page) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return l.current == p.ID()
}

// apart opens a page for an agent whose page is in use by another one.
func (a *agent) apart(ctx context.Context, l *link) (*page.Page, error) {
	p, err := l.browser.NewPage(ctx, "about:blank")
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	l.opened[p.ID()] = true
	a.news = "Another agent works in the tab that the developer sees, so this is a tab of your own. "
	a.mu.Unlock()
	a.claim(l, p.ID())
	return p, nil
}
