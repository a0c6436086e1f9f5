package partial

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/capture"
	"browser-coordinator/policy"
)

// conn is the connection of one client.
type conn struct {
	browser *Browser
	to      browser.Client
	whole   *capture.Client
	leaving chan struct{}
	wake    chan struct{} // own commands have come
	running sync.WaitGroup

	// Browser.mu guards the fields that follow.
	sessions map[string]*session // by id; "": the connection's own
	// pending are the commands whose response is needed. Each returns what the client gets;
	// nil: nothing.
	pending  map[string]func(response []byte) []byte
	commands []browser.Message // of its own, to send
	lastOwn  int
	held     map[string][]byte // attachments to frames whose URL is not known yet, by the frame
}

// session is one of the client's. Browser.mu guards its fields.
type session struct {
	target   string          // id of the page that it, or the frame or worker of it, belongs to; empty: the browser's
	parent   string          // id of the session that it was attached within
	frame    string          // id of the frame in the page; empty: it is the page's, or a worker's
	lost     bool            // what it belongs to is out of reach; the browser detaches it
	away     bool            // the page shows what is out of reach, which its tab is not yet
	kept     map[string]bool // ids of requests and downloads under way of what is out of reach
	discover bool            // it gets events of targets
	attach   bool            // it is attached to targets
	contexts []string        // that the browser disposes with it
}

// Close implements [browser.Conn].
func (c *conn) Close() {
	b := c.browser
	b.mu.Lock()
	delete(b.conns, c)
	for _, s := range c.sessions {
		b.disposed(s)
	}
	b.mu.Unlock()
	close(c.leaving)
	c.whole.Close()
	c.running.Wait()
}

// disposed forgets the contexts that the browser disposes with a session. mu is held.
func (b *Browser) disposed(s *session) {
	for _, id := range s.contexts {
		delete(b.contexts, id)
	}
}

// sendOwn sends the connection's own commands: the place where they arise may not block.
func (c *conn) sendOwn() {
	for {
		c.browser.mu.Lock()
		own := c.commands
		c.commands = nil
		c.browser.mu.Unlock()
		for _, m := range own {
			c.whole.Send(m)
		}
		select {
		case <-c.wake:
		case <-c.leaving:
			return
		}
	}
}

// call sends a command of the connection's own. mu is held.
func (c *conn) call(session, method string, params any, answered func(response []byte) []byte) {
	encoded, err := json.Marshal(params)
	if err != nil {
		return // a map of strings and booleans can always be encoded
	}
	id := c.ownID()
	c.pending[key(session, id)] = answered
	c.commands = append(c.commands, browser.Message{ID: id, Session: session, Method: method, Params: encoded})
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// ignore is for a command whose response nobody needs.
func ignore([]byte) []byte { return nil }

func (c *conn) ownID() []byte {
	c.lastOwn = (c.lastOwn + 1) % (1 << 24)
	return strconv.AppendInt(nil, int64(firstOwn+c.lastOwn), 10)
}

// await has a command forwarded whose response is needed, under an id of the connection's own: a
// client may give two commands the same. mu is held.
func (c *conn) await(m *browser.Message, answered func(response []byte) []byte) {
	clients, own := m.ID, c.ownID()
	m.ID = own
	c.pending[key(m.Session, own)] = func(response []byte) []byte {
		rest := response[len(idHead)+len(own):]
		return answered(slices.Concat([]byte(idHead), clients, rest))
	}
}

// idHead begins a response.
const idHead = `{"id":`

// Send implements [browser.Conn].
func (c *conn) Send(m browser.Message) bool {
	b := c.browser
	b.mu.Lock()
	s := c.sessions[m.Session]
	forward := false
	switch {
	case s == nil:
		session := m
		session.Session = ""
		c.to.Send(session.Response(nil, browser.ErrNoSession))
	case isOwn(m.ID):
		c.to.Send(m.Response(nil, &browser.Error{Code: browser.CodeParams, Message: "the id is reserved"}))
	case s.target != "":
		forward = c.toPage(s, &m)
	default:
		forward = c.toBrowser(s, &m)
	}
	b.mu.Unlock()
	return forward && c.whole.Send(m)
}

// toPage decides about a command to a page. mu is held.
func (c *conn) toPage(s *session, m *browser.Message) (forward bool) {
	b := c.browser
	d := policy.DecidePersonal(b.hosts(), m.Method, m.Params)
	page := b.clientTarget(s.target)
	switch {
	case page == nil, s.lost: // it has just left the part
		c.to.Send(m.Response(nil, browser.ErrNoTarget))
	case m.Method == discoverTargets: // chromedp discovers them in the page's session
		return c.toBrowser(s, m)
	case d.Outcome == policy.Ignore:
		c.to.Send(m.Response(nil, nil))
	case d.Outcome != policy.Allow:
		c.to.Send(m.Response(nil, d.Err()))
	case m.Method == "Page.close" && page.owner != clients:
		c.to.Send(m.Response(nil, errUsers))
	case policy.NeedsOwnTab(m.Method, m.Params) && page.owner != clients:
		c.to.Send(m.Response(nil, errHandedOver))
	case m.Method == autoAttach:
		return c.attachWithin(m)
	default:
		if m.Method == getCookies {
			c.await(m, c.onlyOwnCookies)
		}
		return true
	}
	return false
}

const (
	getCookies      = "Storage.getCookies"
	discoverTargets = "Target.setDiscoverTargets"
	autoAttach      = "Target.setAutoAttach"
)
