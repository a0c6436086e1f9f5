package pagebrowser

import (
	"context"
	"fmt"
	"strings"
	"time"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// browserDomains are those that a page's session answers for the browser.
var browserDomains = map[string]bool{
	"Browser": true, "Storage": true, "Tracing": true, "IO": true, "SystemInfo": true, "Memory": true,
	"Schema": true, "Security": true, "Extensions": true, "PWA": true, "Cast": true, "Tethering": true,
}

// command carries out one command of a client. It is called by the client's
// reader only, and does not wait.
func (s *session) command(m command) {
	domain, name, _ := strings.Cut(m.Method, ".")
	c := s.client
	switch {
	case m.Method == "Browser.close":
		// It would end the browser for the human and everyone else.
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
		link := s.deputy()
		if link == nil {
			c.reply(s, m.ID, nil, refused("the debugger has no page now"))
			return
		}
		link.command(m)
	default:
		s.link.command(m)
	}
}

func notFound(method string) *failure {
	return &failure{codeNotFound, fmt.Sprintf("'%s' wasn't found", method)}
}

// later carries out what has to wait for something.
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

// deputy is the link to the page that answers for the browser.
func (s *session) deputy() *link {
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.link == nil || !s.link.target.offered {
		first := b.first()
		if first == nil || s.ended {
			return nil
		}
		if s.link != nil {
			s.link.leave()
		}
		s.link = newLink(s, first)
	}
	return s.link
}

func (c *client) getVersion(ctx context.Context, s *session, id json.Value) {
	v, err := c.browser.awaitVersion(ctx)
	if err != nil {
		c.reply(s, id, nil, refused("the debugger has no page that could tell the browser's version"))
		return
	}
	c.reply(s, id, encode(v), nil)
}

// awaitVersion waits for the first page, which tells it.
func (b *Browser) awaitVersion(ctx context.Context) (version, error) {
	var v version
	_, err := b.await(ctx, func() *target {
		if b.version != nil {
			v = *b.version
			return new(target)
		}
		return b.first() // of a browser that tells no version
	})
	return v, err
}
