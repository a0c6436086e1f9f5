package agent

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/registry"
)

// browsers are an agent's connections, and its claims on pages.
type browsers struct {
	log    *slog.Logger
	claims Claims     // nil: there are no other agents
	refs   frame.Refs // of all pages: no ref occurs on two pages
	// moved is called with the id of the page that the agent works in from now on; empty: in
	// none. mu is held.
	moved func(page string)

	mu    sync.Mutex // guards the fields that follow, and those of each link
	links map[string]*link
	last  *link       // used by the last call
	idle  *time.Timer // ends the claims of an idle agent
}

// claimIdle is how long an idle agent keeps its page: hosts leave unused sessions open.
const claimIdle = 5 * time.Minute

// claim makes a page the one that the agent works in, unless another agent does.
func (b *browsers) claim(l *link, id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.current == id && l.held[id] != nil {
		b.idle.Reset(claimIdle)
		return true
	}
	if !b.holds(l, id) {
		return false
	}
	l.unclaim(l.current)
	l.current = id
	b.moved(id)
	return true
}

// hold keeps other agents out of a page besides the one that the agent works in, unless
// another agent works there.
func (b *browsers) hold(l *link, id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.holds(l, id)
}

// holds is hold with mu held.
func (b *browsers) holds(l *link, id string) bool {
	if b.idle == nil {
		b.idle = time.AfterFunc(claimIdle, b.releaseAll)
	} else {
		b.idle.Reset(claimIdle)
	}
	if l.held[id] != nil {
		return true
	}
	release, ok := func() {}, true
	if b.claims != nil {
		release, ok = b.claims.Claim(id)
	}
	if ok {
		l.held[id] = release
	}
	return ok
}

// unclaim releases a page to others; browsers.mu is held. The next call still knows which
// page the agent worked in.
func (l *link) unclaim(id string) {
	if release := l.held[id]; release != nil {
		release()
		delete(l.held, id)
	}
}

// unclaimAll releases all pages to others; browsers.mu is held.
func (l *link) unclaimAll() {
	for id := range l.held {
		l.unclaim(id)
	}
}

// releaseAll is called when the agent has been idle.
func (b *browsers) releaseAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.links {
		l.unclaimAll()
	}
	b.moved("")
}

// leave ends the connections that which selects, and reports whether there were any.
func (b *browsers) leave(which func(*link) bool) bool {
	b.mu.Lock()
	var left []*link
	for url, l := range b.links {
		if which(l) {
			l.unclaimAll()
			left = append(left, l)
			delete(b.links, url)
		}
	}
	b.mu.Unlock()
	for _, l := range left {
		<-l.ready
		if l.browser != nil {
			l.browser.Close()
		}
		l.watched.Wait()
	}
	return len(left) > 0
}

// revoke ends the connections that which selects, and reports whether there were any: the
// user allows less than before. What is known of their pages stays, for the next connection.
func (b *browsers) revoke(which func(*link) bool) bool {
	b.mu.Lock()
	var ended []*link
	for _, l := range b.links {
		if isClosed(l.ready) && l.browser != nil && which(l) {
			l.revoked = true
			ended = append(ended, l)
		}
	}
	b.mu.Unlock()
	for _, l := range ended {
		l.browser.Close()
	}
	return len(ended) > 0
}

func (b *browsers) end() {
	b.closeOpened()
	b.leave(func(*link) bool { return true })
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle != nil {
		b.idle.Stop()
	}
}

// endTimeout bounds the time in which the tabs of a session that ends are closed.
const endTimeout = 2 * time.Second

// closeOpened closes the tabs that the agent has opened for itself, unless another agent has
// begun to work there. It keeps the one that the
// user sees, who may work there as well, and a browser without a tab ends.
func (b *browsers) closeOpened() {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	for l, opened := range b.toClose() {
		front, err := l.browser.InFront(ctx)
		for _, id := range opened {
			if err == nil && id != front && b.claim(l, id) {
				err = l.browser.ClosePage(ctx, id)
			}
		}
		if err != nil {
			b.log.Info("a tab of an agent that has left stays open", "error", err)
		}
	}
}

// toClose are the tabs that end with the session. A browser of our own ends with them.
func (b *browsers) toClose() map[*link][]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	tabs := map[*link][]string{}
	for _, l := range b.links {
		if l.own || !isClosed(l.ready) || l.browser == nil || l.ended() {
			continue
		}
		for id, ends := range l.opened {
			if ends {
				tabs[l] = append(tabs[l], id)
			}
		}
	}
	return tabs
}

// any reports whether a connection is of that kind.
func (b *browsers) any(of func(*link) bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.links {
		if of(l) {
			return true
		}
	}
	return false
}

// settled reports whether the agent has done an action in a browser of our own that still
// runs. The agent then stays there, also when a matching window opens.
func (b *browsers) settled() bool {
	return b.any(func(l *link) bool { return l.own && l.acted && !l.ended() })
}

func (b *browsers) haveOwn() bool { return b.any(func(l *link) bool { return l.own }) }

func (b *browsers) use(l *link) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = l
}

// inUse is the connection of the last call; nil: none.
func (b *browsers) inUse() *link {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// to is the connection to a browser; nil: none.
func (b *browsers) to(url string) *link {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.links[url]
}

// known is the connection to a window's browser; nil: there is none yet.
func (b *browsers) known(window registry.Window) *link {
	browser := window.Browser()
	if browser == nil {
		return nil
	}
	l := b.to(browser.URL)
	if l == nil || !isClosed(l.ready) || l.browser == nil || l.ended() {
		return nil
	}
	return l
}

// currentOf is the id of the page that the agent works in.
func (b *browsers) currentOf(l *link) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return l.current
}

// closed forgets a page, which is closed. The agent then works in the page that opened it,
// if that is one of the given ones and no other agent works there; else closed returns nil.
func (b *browsers) closed(l *link, id string, pages []page.Info) (opener *page.Info) {
	b.mu.Lock()
	opener = find(pages, l.openers[id])
	delete(l.opened, id)
	l.unclaim(id)
	wasCurrent := l.current == id
	if wasCurrent {
		l.current = ""
		b.moved("")
	}
	b.mu.Unlock()
	if !wasCurrent || opener == nil || !b.claim(l, opener.ID) {
		return nil
	}
	return opener
}

// open records a tab that the agent has opened for itself.
func (b *browsers) open(l *link, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.opened[id] = true
}

// share records that the agent reads a page that another agent works in, and reports
// whether that is new.
func (b *browsers) share(l *link, id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	former := l.shared
	l.shared = id
	return former != id
}

// adopt records tabs that the agent's action has opened. Those of the user's page stay when
// the session ends.
func (b *browsers) adopt(pages []page.Info, opener *page.Page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range pages {
		if b.last != nil && opener != nil {
			b.last.opened[p.ID] = b.last.opened[opener.ID()]
			b.last.openers[p.ID] = opener.ID()
		}
	}
}

// openedBy records the page that opened a page.
func (b *browsers) openedBy(l *link, tab page.Info) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.openers[tab.ID] == "" {
		l.openers[tab.ID] = tab.OpenerID
	}
}

// noteAction records that a mutating tool has run.
func (b *browsers) noteAction() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last != nil {
		b.last.acted = true
	}
}

// lastPage is the last used page of the connection; nil: it is not known.
func (b *browsers) lastPage() *page.Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil || b.last.ended() {
		return nil
	}
	return b.last.browser.Known(b.last.current)
}

// left reports that an action has closed its page, and where the agent works now.
func (b *browsers) left(ctx context.Context, p *page.Page) string {
	const report = "This closed the tab."
	if opener := b.handOver(ctx, p); opener != nil {
		return fmt.Sprintf("%s You work in tab %d now, which opened it.", report, opener.Index)
	}
	return report
}

// handOver makes the opener of a page that has closed the one that the agent works in. It
// returns nil if there is none.
func (b *browsers) handOver(ctx context.Context, p *page.Page) *page.Info {
	l := b.inUse()
	if l == nil || b.currentOf(l) != p.ID() {
		return nil
	}
	pages, err := l.browser.Pages(ctx)
	if err != nil {
		return nil
	}
	return b.closed(l, p.ID(), pages)
}
