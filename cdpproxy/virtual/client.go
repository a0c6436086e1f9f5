package virtual

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/browser"
)

// command is a client's message.
type command = browser.Message

// client is a client's part of the browser. It ends with the connection, with the page
// if it is a page's, or with the browser.
type client struct {
	downstream browser.Client
	browser    *Browser
	ctx        context.Context // ends when the client leaves
	cancel     context.CancelFunc
	wg         sync.WaitGroup // the links and the commands under way

	// Guarded by Browser.mu.
	root     *session // the connection's own
	sessions map[string]*session
}

// newClient begins a connection whose own session is of a page, or of the browser
// if t is nil. mu is held.
func newClient(b *Browser, downstream browser.Client, t *target) *client {
	c := &client{downstream: downstream, browser: b}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.root = &session{client: c}
	if t != nil {
		c.root.kind, c.root.target = ofPage, t
		c.root.link = newLink(c.root, t)
	}
	c.sessions = map[string]*session{"": c.root}
	b.clients[c] = struct{}{}
	return c
}

// Close implements [browser.Conn]: it ends the client's sessions and resets their settings.
func (c *client) Close() {
	b := c.browser
	defer b.joined.Done()
	b.mu.Lock()
	c.root.finish(false)
	delete(b.clients, c)
	b.mu.Unlock()
	c.cancel()
	c.wg.Wait()
}

func (c *client) event(s *session, method string, params jsonv2.Value) {
	if len(params) == 0 {
		params = empty
	}
	m := browser.Message{Method: method, Params: params, Session: s.id}
	c.downstream.Send(m.Encode())
}

func (c *client) reply(m command, result jsonv2.Value, err error) {
	c.downstream.Send(m.Response(result, err))
}

// schedule runs a command that must wait for something.
func (c *client) schedule(run func(context.Context)) {
	c.wg.Go(func() { run(c.ctx) })
}

// browserDomains are the domains that a page's session forwards to the browser.
var browserDomains = map[string]bool{
	"Browser": true, "Storage": true, "Tracing": true, "IO": true, "SystemInfo": true, "Memory": true,
	"Schema": true, "Security": true, "Extensions": true, "PWA": true, "Cast": true, "Tethering": true,
}

// Send implements [browser.Conn]. It does not wait.
func (c *client) Send(m command) bool {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	s := c.sessions[m.Session]
	if s == nil {
		m.Session = ""
		c.reply(m, nil, browser.ErrNoSession)
		return false
	}
	s.handle(m)
	return true
}

// handle handles a command to the session's target. mu is held.
func (s *session) handle(m command) {
	c, b := s.client, s.client.browser
	link, version := s.link, b.version // the link is nil where the page has just gone
	domain, name, ok := strings.Cut(m.Method, ".")
	switch {
	case !ok || domain == "" || name == "" || strings.Contains(name, "."):
		// js-debug would execute Debugger.resume.x as Debugger.resume.
		c.reply(m, nil, notFound(m.Method))
	case m.Method == "Browser.close":
		// It would close the browser for the user and all other clients.
		c.reply(m, nil, nil)
		c.downstream.End(uint16(websocket.StatusNormalClosure),
			"the browser is the window's: only this connection is closed")
	case domain == "Target":
		s.targetCommand(m, name)
	case s.kind == ofTab && m.Method == "Runtime.runIfWaitingForDebugger":
		c.reply(m, nil, nil)
	case s.kind == ofTab, s.kind == ofBrowser && !browserDomains[domain], domain == "JsDebug":
		c.reply(m, nil, notFound(m.Method))
	case s.kind == ofBrowser && m.Method == "Browser.getVersion" && version != nil:
		c.reply(m, encode(version), nil)
	case s.kind == ofBrowser:
		if link = s.browserLink(); link == nil {
			c.reply(m, nil, refused("the debugger has no page now"))
			return
		}
		link.command(m)
	case link == nil:
		c.reply(m, nil, errGone)
	default:
		link.command(m)
	}
}

func notFound(method string) error {
	return &browser.Error{Code: browser.CodeNotFound, Message: fmt.Sprintf("'%s' wasn't found", method)}
}

func refused(text string) error { return &browser.Error{Code: browser.CodeServer, Message: text} }

// lenient accepts lone surrogates, which a page's text may contain.
var lenient = jsonv2.AllowInvalidUTF8(true)

var empty = jsonv2.Value("{}")

// encode is for values of this package, which can always be encoded.
func encode(v any) jsonv2.Value {
	b, err := jsonv2.Marshal(v, lenient)
	if err != nil {
		panic("virtual: " + err.Error())
	}
	return b
}
