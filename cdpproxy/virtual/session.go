package virtual

import (
	"slices"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/browser"
)

type kind int

const (
	ofBrowser kind = iota
	ofTab
	ofPage
)

// session is one client's session with one target, with an id of ours. Sessions
// form a tree, as in Chromium: a session's parent sends its target events.
type session struct {
	client *client
	id     string // empty for the connection's own
	parent *session
	kind   kind
	target *target // nil for the browser
	auto   bool    // attached by the parent's auto-attach

	// Guarded by Browser.mu.
	discover   browser.Filter // nil: off
	autoAttach browser.Filter // nil: off
	children   []*session
	ended      bool
	link       *link // to the page; for the browser, to the page that responds for it
}

// info returns the target info that the client gets. mu is held.
func (s *session) info() targetInfo {
	switch s.kind {
	case ofBrowser:
		return s.client.browser.selfInfo()
	case ofTab:
		return s.target.tabInfo()
	default:
		return s.target.info
	}
}

func (b *Browser) selfInfo() targetInfo {
	return targetInfo{ID: b.id, Type: "browser", Attached: true}
}

// forEach calls do for every session of all clients, a session before those below it. mu is
// held; sessions may begin and end meanwhile.
func (b *Browser) forEach(do func(*session)) {
	for c := range b.clients {
		c.root.forEach(do)
	}
}

func (s *session) forEach(do func(*session)) {
	do(s)
	for _, child := range s.children {
		child.forEach(do)
	}
}

// offer presents a page to the clients. The order of the events is Chromium's: the
// target is created before a session is attached to it.
func (b *Browser) offer(t *target, c *conn, info targetInfo, v version) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.ctx.Err() != nil {
		return
	}
	t.info, t.conn, t.offered, t.settled = info, c, true, true
	if v != (version{}) {
		b.version = &v
	}
	b.order = append(b.order, t)
	if t.isTab() {
		b.emit("tab", "Target.targetCreated", encode(infoParams{t.tabInfo()}))
	}
	b.emit(info.Type, "Target.targetCreated", encode(infoParams{info}))
	b.forEach(func(s *session) { s.joinAutomatically(t) })
	b.changed.Notify()
}

type infoParams struct {
	Info targetInfo `json:"targetInfo"`
}

// withdraw ends the clients' sessions with a page. mu is held.
func (b *Browser) withdraw(t *target) {
	if !t.offered {
		return
	}
	t.offered, t.conn = false, nil
	b.order = slices.DeleteFunc(slices.Clone(b.order), func(other *target) bool { return other == t })
	// In Chromium's order, the page before the tab around it.
	b.finishSessions(ofPage, t)
	b.emit(t.info.Type, "Target.targetDestroyed", encode(targetID{t.info.ID}))
	if t.isTab() {
		b.finishSessions(ofTab, t)
		b.emit("tab", "Target.targetDestroyed", encode(targetID{t.tabID()}))
	}
	b.forEach(func(s *session) {
		if s.kind == ofBrowser && s.link != nil && s.link.target == t {
			s.link.cancel()
		}
	})
	b.changed.Notify()
}

// finishSessions ends the sessions with a closed target. mu is held.
func (b *Browser) finishSessions(k kind, t *target) {
	b.forEach(func(s *session) {
		switch {
		case s.kind != k || s.target != t:
		case s.id == "":
			s.client.downstream.End(uint16(websocket.StatusGoingAway), "the page has closed")
		default:
			s.finish(true)
		}
	})
}

// emitChanged reports a page's new title or URL to the sessions that discover
// targets. mu is held.
func (b *Browser) emitChanged(t *target) {
	if t.isTab() {
		b.emit("tab", "Target.targetInfoChanged", encode(infoParams{t.tabInfo()}))
	}
	b.emit(t.info.Type, "Target.targetInfoChanged", encode(infoParams{t.info}))
}

// emit sends an event on a type of target to the sessions that discover it. mu is
// held.
func (b *Browser) emit(kind, method string, params jsonv2.Value) {
	b.forEach(func(s *session) {
		if s.discover.Matches(kind) {
			s.client.event(s, method, params)
		}
	})
}

// joinAutomatically attaches to a page if the client's auto-attach includes it. mu
// is held.
func (s *session) joinAutomatically(t *target) {
	switch {
	case s.autoAttach == nil || s.ended:
	case s.kind == ofBrowser && t.isTab():
		if s.autoAttach.Matches("tab") {
			s.join(ofTab, t, true)
		}
		if s.autoAttach.Matches(t.info.Type) {
			s.join(ofPage, t, true)
		}
	case s.kind == ofTab && t == s.target, s.kind == ofPage && t.page.Parent == s.target.page.Key:
		if s.autoAttach.Matches(t.info.Type) {
			s.join(ofPage, t, true)
		}
	}
}

// join attaches to a target with a session below s; an automatic session is
// attached once. mu is held.
func (s *session) join(k kind, t *target, auto bool) *session {
	if auto {
		for _, child := range s.children {
			if child.auto && child.kind == k && child.target == t {
				return child
			}
		}
	}
	child := &session{client: s.client, id: browser.NewID(), parent: s, kind: k, target: t, auto: auto}
	s.children = append(s.children, child)
	s.client.sessions[child.id] = child
	s.client.event(s, "Target.attachedToTarget", encode(struct {
		ID      string     `json:"sessionId"`
		Info    targetInfo `json:"targetInfo"`
		Waiting bool       `json:"waitingForDebugger"`
	}{child.id, child.info(), false}))
	if k == ofPage {
		child.link = newLink(child, t)
	}
	return child
}

// finish ends a session and those below it. The parent gets an event for the first
// only. mu is held.
func (s *session) finish(notify bool) {
	if s.ended {
		return
	}
	s.end()
	if s.parent == nil {
		return
	}
	s.parent.children = slices.DeleteFunc(slices.Clone(s.parent.children),
		func(other *session) bool { return other == s })
	if notify {
		s.client.event(s.parent, "Target.detachedFromTarget", encode(struct {
			Session string `json:"sessionId"`
			Target  string `json:"targetId"`
		}{s.id, s.info().ID}))
	}
}

// end ends a session and those below it. mu is held.
func (s *session) end() {
	s.ended = true
	for _, child := range s.children {
		child.end()
	}
	s.children = nil
	if s.link != nil {
		s.link.leave()
	}
	if s.parent != nil {
		delete(s.client.sessions, s.id)
	}
}

// browserLink is the link to the oldest tab, which responds for the browser; nil if
// there is none. When that tab closes, the next command goes to another one, where
// the client must change its settings again. mu is held.
func (s *session) browserLink() *link {
	if s.link != nil && s.link.target.offered && s.link.ctx.Err() == nil {
		return s.link
	}
	first := s.client.browser.first()
	if first == nil || s.ended {
		return nil
	}
	s.link = newLink(s, first)
	return s.link
}
