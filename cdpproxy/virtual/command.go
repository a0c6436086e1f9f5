package virtual

import (
	"context"
	"fmt"
	"strings"
	"time"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// browserDomains are the domains that a page's session forwards to the browser.
var browserDomains = map[string]bool{
	"Browser": true, "Storage": true, "Tracing": true, "IO": true, "SystemInfo": true, "Memory": true,
	"Schema": true, "Security": true, "Extensions": true, "PWA": true, "Cast": true, "Tethering": true,
}

// command executes one command of a client. Only the client's reader calls it. It
// does not wait.
//
// link is the session's, nil where the page has just gone.
func (s *session) command(m command, link *link) {
	c := s.client
	domain, name, ok := strings.Cut(m.Method, ".")
	if !ok || domain == "" || name == "" || strings.Contains(name, ".") {
		// js-debug would execute Debugger.resume.x as Debugger.resume.
		c.reply(s, m.ID, nil, notFound(m.Method))
		return
	}
	switch {
	case m.Method == "Browser.close":
		// It would close the browser for the user and all other clients.
		c.reply(s, m.ID, nil, nil)
		c.end(closeNormal, "the browser is the window's: only this connection is closed")
	case domain == "Target":
		s.targetCommand(m, name)
	case s.kind == ofTab:
		if m.Method == "Runtime.runIfWaitingForDebugger" {
			c.reply(s, m.ID, nil, nil)
			return
		}
		c.reply(s, m.ID, nil, notFound(m.Method))
	case s.kind == ofBrowser && m.Method == "Browser.getVersion":
		c.later(callTimeout, func(ctx context.Context) { c.getVersion(ctx, s, m.ID) })
	case s.kind == ofBrowser && !browserDomains[domain], domain == "JsDebug":
		c.reply(s, m.ID, nil, notFound(m.Method))
	case s.kind == ofBrowser:
		link := s.browserLink()
		if link == nil {
			c.reply(s, m.ID, nil, refused("the debugger has no page now"))
			return
		}
		link.command(m)
	case link == nil:
		c.reply(s, m.ID, nil, errGone)
	default:
		link.command(m)
	}
}

func notFound(method string) *failure {
	return &failure{codeNotFound, fmt.Sprintf("'%s' wasn't found", method)}
}

// later runs a command that must wait for something.
func (c *client) later(limit time.Duration, do func(context.Context)) {
	c.wg.Add(1)
	go c.carryOut(limit, do)
}

func (c *client) carryOut(limit time.Duration, do func(context.Context)) {
	defer c.wg.Done()
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	do(ctx)
}

func (c *client) getVersion(ctx context.Context, s *session, id json.Value) {
	v, err := c.browser.awaitVersion(ctx)
	if err != nil {
		c.reply(s, id, nil, refused("the debugger has no page that could report the browser's version"))
		return
	}
	c.reply(s, id, encode(v), nil)
}

// awaitVersion waits for the first page, which reports the version.
func (b *Browser) awaitVersion(ctx context.Context) (version, error) {
	var v version
	_, err := b.await(ctx, func() *target {
		if b.version != nil {
			v = *b.version
			return new(target)
		}
		return b.first() // of a browser that reports no version
	})
	return v, err
}

// Commands to the browser go to the oldest tab, through a link of the session's
// own. When that tab closes the next one replaces it, with the settings of the
// session and its events.

// browserLink is the link to the tab that responds for the browser, nil if there is
// none.
func (s *session) browserLink() *link {
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.link == nil || s.link.done() {
		first := b.first()
		if first == nil || s.ended {
			return nil
		}
		s.linkTo(first)
	}
	return s.link
}

// done reports whether the link's page or its connection has gone. Browser.mu is
// held.
func (l *link) done() bool { return !l.target.offered || l.ctx.Err() != nil }

// succeed replaces a closed tab by the oldest one that is left. mu is held.
func (b *Browser) succeed() {
	first := b.first()
	if first == nil {
		return
	}
	for c := range b.clients {
		for _, s := range c.all() {
			if s.kind == ofBrowser && s.link != nil && s.link.done() {
				s.linkTo(first)
			}
		}
	}
}

// linkTo makes a tab respond for the browser from now on. mu is held.
func (s *session) linkTo(t *target) {
	before := s.link
	s.link = newLink(s, t)
	if before == nil {
		return
	}
	before.mu.Lock()
	s.link.mu.Lock()
	for domain := range before.subscribed {
		s.link.subscribe(domain)
	}
	for name := range before.on {
		if name != trace {
			s.link.turnOn(name)
		}
	}
	s.link.mu.Unlock()
	before.mu.Unlock()
	restore := s.restore
	if s.restore = nil; restore == nil {
		restore = before.held()
	}
	for _, m := range restore {
		again := *m
		again.ID = nil // it has its response
		if st, _, ok := settingOf(again); ok {
			s.link.set(&again, st)
		}
	}
	before.cancel()
}
