package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/internal/pagelock"
	"browser-coordinator/internal/strictjson"
	"browser-coordinator/policy"
)

const (
	// waitTimeout bounds the wait for other captures of the page.
	waitTimeout = 20 * time.Second
	// responseTimeout bounds the wait for a capture by those after it, goneTimeout that after its
	// document has gone: then it often gets no response.
	responseTimeout = 10 * time.Second
	goneTimeout     = time.Second
	// LeaveTimeout bounds the wait for it when its client has left.
	LeaveTimeout = 5 * time.Second
	// maxWaiting and maxText bound what waits of one client.
	maxWaiting = 64
	maxText    = 64 << 10
)

// Client is the connection of one client. It implements [browser.Conn]; Receive may be called by
// other goroutines.
type Client struct {
	lock    bool
	respond func(message []byte)
	log     *slog.Logger
	conn    browser.Conn
	ctx     context.Context // ends when the client leaves
	cancel  context.CancelFunc
	sending sync.WaitGroup // the goroutines that send what waits
	running atomic.Int32   // length of captures, so that most messages take no lock

	mu       sync.Mutex // guards the fields that follow
	sessions map[string]session
	captures map[request]*capture
	lines    map[string][]waiting // captures that wait, by page
	waiting  int                  // commands that wait
}

// session is one of the client's.
type session struct {
	page   string // id of its target
	parent string // id of the session that it was attached within
}

// request identifies a command.
type request struct{ session, id string }

func requestOf(m browser.Message) request { return request{m.Session, string(m.ID)} }

// capture is one that the browser has not responded to.
type capture struct {
	ended   chan struct{} // closed at its end
	release func() error  // of the page's lock
	timeout *time.Timer
}

// waiting is a capture that another one of its page keeps waiting.
type waiting struct {
	browser.Message
	deadline time.Time
}

// New returns the part of one client, whose messages without a session are for the page; empty: for
// the browser. lock: captures are one at a time; otherwise the client is a program of ours, which
// locks pages itself. respond sends a message to the client.
func New(page string, lock bool, respond func(message []byte), log *slog.Logger) *Client {
	c := &Client{
		lock: lock, respond: respond, log: log,
		sessions: map[string]session{}, captures: map[request]*capture{}, lines: map[string][]waiting{},
	}
	if page != "" {
		c.sessions[""] = session{page: page}
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Connect sets the connection to the browser, before the first Send.
func (c *Client) Connect(conn browser.Conn) { c.conn = conn }

// Send implements [browser.Conn]. A capture that waits counts as sent; the commands after it do not
// wait, as one of them may be what the page needs to go on.
func (c *Client) Send(m browser.Message) bool {
	switch m.Method {
	case capturing:
		if changesPage(m.Params) {
			return c.capture(m)
		}
	case policy.Carrier:
		if method, params, ok := policy.Carried(m.Params); !ok || method == capturing && changesPage(params) {
			return c.refuse(m, errNotFlat)
		}
	case detach, autoAttach:
		if c.running.Load() > 0 {
			return c.endSessions(m)
		}
	}
	return c.conn.Send(m)
}

const (
	capturing  = "Page.captureScreenshot"
	detach     = "Target.detachFromTarget"
	autoAttach = "Target.setAutoAttach"
)

// changesPage reports whether a capture with these parameters changes the size of the page for its
// time. One of what is visible does not.
func changesPage(params []byte) bool {
	changes := false
	err := strictjson.Members(params, func(key string, value []byte) error {
		changes = changes || key == "clip" || key == "captureBeyondViewport" && string(value) != "false"
		return nil
	})
	return len(params) > 0 && string(params) != "null" && (changes || err != nil)
}

var (
	errNotFlat = &browser.Error{Code: browser.CodeParams, Message: "a picture with a clip, or beyond the viewport, and " +
		"a command that cannot be read, need a session that was attached with flatten"}
	errSameID = &browser.Error{Code: browser.CodeParams, Message: "the picture before with this id is not complete"}
	errMany   = &browser.Error{Code: browser.CodeServer, Message: fmt.Sprintf("%d commands of this client wait for "+
		"pictures of pages: send less at a time", maxWaiting)}
	errWait = &browser.Error{Code: browser.CodeServer, Message: fmt.Sprintf("other pictures of this page, by a client "+
		"or an agent, have taken %v. Try again; a picture without clip and captureBeyondViewport does not wait",
		waitTimeout)}
)

// capture sends a capture when no other one of its page is under way.
func (c *Client) capture(m browser.Message) bool {
	if err := m.Normalize(); err != nil {
		return c.refuse(m, err)
	}
	c.mu.Lock()
	in, attached := c.sessions[m.Session]
	inLine := len(c.lines[in.page]) > 0
	c.mu.Unlock()
	switch {
	case !attached && m.Session == "": // the browser has no picture
		return c.conn.Send(m)
	case !attached:
		return c.refuse(m, browser.ErrNoSession)
	case !c.lock:
		return c.start(m, nil)
	case inLine:
		return c.line(in.page, m)
	}
	release, free, err := pagelock.Capture.Try(in.page)
	switch {
	case err != nil:
		return c.refuse(m, err)
	case free:
		return c.start(m, release)
	}
	return c.line(in.page, m)
}

// refuse responds to a command with an error.
func (c *Client) refuse(m browser.Message, err error) bool {
	c.respond(m.Response(nil, err))
	return false
}

// start sends a capture. It takes over the lock of the page; nil: there is none.
func (c *Client) start(m browser.Message, release func() error) bool {
	started := &capture{ended: make(chan struct{}), release: release}
	key := requestOf(m)
	c.mu.Lock()
	_, used := c.captures[key]
	left := c.ctx.Err() != nil
	if !used && !left {
		c.captures[key] = started
		c.running.Add(1)
		started.timeout = time.AfterFunc(responseTimeout, func() { c.end(key, started) })
	}
	c.mu.Unlock()
	switch {
	case left:
		c.free(release)
		return false
	case used:
		c.free(release)
		return c.refuse(m, errSameID)
	case c.conn.Send(m):
		return true
	}
	c.end(key, started)
	return false
}

// end ends a capture, unless it has ended.
func (c *Client) end(key request, ended *capture) {
	c.mu.Lock()
	current := c.captures[key] == ended
	if current {
		delete(c.captures, key)
		c.running.Add(-1)
	}
	c.mu.Unlock()
	if current {
		ended.timeout.Stop()
		c.free(ended.release)
		close(ended.ended)
	}
}

func (c *Client) free(release func() error) {
	if release == nil {
		return
	}
	if err := release(); err != nil {
		c.log.Warn("the lock of a page cannot be released, so its pictures wait until this program ends", "error", err)
	}
}

// wait counts a command that waits, and reports whether there is room for it. mu is held.
func (c *Client) wait(m browser.Message) bool {
	if c.waiting == maxWaiting || len(m.Text) > maxText {
		return false
	}
	c.waiting++
	return true
}

// line appends a capture to the line of its page.
func (c *Client) line(page string, m browser.Message) bool {
	c.mu.Lock()
	room := c.wait(m)
	if room {
		if c.lines[page] = append(c.lines[page], waiting{m, time.Now().Add(waitTimeout)}); len(c.lines[page]) == 1 {
			c.sending.Go(func() { c.sendLine(page) })
		}
	}
	c.mu.Unlock()
	return room || c.refuse(m, errMany)
}

// sendLine sends the captures of a page that wait, each when the one before has ended.
func (c *Client) sendLine(page string) {
	for more := true; more && c.ctx.Err() == nil; {
		c.mu.Lock()
		m := c.lines[page][0]
		c.mu.Unlock()
		ctx, cancel := context.WithDeadline(c.ctx, m.deadline)
		release, err := pagelock.Capture.Acquire(ctx, page)
		switch {
		case err == nil:
			c.start(m.Message, release)
		case errors.Is(err, context.DeadlineExceeded):
			c.refuse(m.Message, errWait)
		case c.ctx.Err() == nil:
			c.refuse(m.Message, err)
		}
		cancel()
		c.mu.Lock()
		c.waiting--
		if c.lines[page] = c.lines[page][1:]; len(c.lines[page]) == 0 {
			delete(c.lines, page)
			more = false
		}
		c.mu.Unlock()
	}
}

// endSessions sends a command that ends sessions, after the captures in these.
func (c *Client) endSessions(m browser.Message) bool {
	var params struct {
		Session string `json:"sessionId"`
		Target  string `json:"targetId"`
	}
	if err := browser.DecodeParams(m.Params, &params); err != nil {
		return c.conn.Send(m) // the browser refuses it
	}
	ends := func(id string, s session) bool {
		return m.Method == autoAttach && s.parent == m.Session ||
			m.Method == detach && (id == params.Session || s.page == params.Target)
	}
	c.mu.Lock()
	var during []*capture
	for key, running := range c.captures {
		if c.within(key.session, ends) {
			during = append(during, running)
		}
	}
	wait := len(during) > 0
	room := wait && c.wait(m)
	if room {
		c.sending.Go(func() { c.sendAfter(m, during) })
	}
	c.mu.Unlock()
	switch {
	case !wait:
		return c.conn.Send(m)
	case !room:
		return c.refuse(m, errMany)
	}
	return true
}

// within reports whether a session or one around it fits. mu is held.
func (c *Client) within(id string, fits func(string, session) bool) bool {
	for {
		s, ok := c.sessions[id]
		switch {
		case ok && fits(id, s):
			return true
		case !ok || id == "":
			return false
		}
		id = s.parent
	}
}

// sendAfter sends a command after the captures have ended.
func (c *Client) sendAfter(m browser.Message, during []*capture) {
	await(c.ctx, during)
	if c.ctx.Err() == nil {
		c.conn.Send(m)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
}

// await waits until the captures have ended.
func await(ctx context.Context, captures []*capture) {
	for _, each := range captures {
		select {
		case <-each.ended:
		case <-ctx.Done():
			return
		}
	}
}

// Running reports whether the browser has not responded to a capture yet.
func (c *Client) Running() bool { return c.running.Load() > 0 }

// Leave keeps what waits from being sent, and returns the captures that are under way.
func (c *Client) Leave() (running []*capture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel()
	return slices.Collect(maps.Values(c.captures))
}

// Lost ends all captures: the browser sends nothing any longer.
func (c *Client) Lost() {
	c.mu.Lock()
	captures := maps.Clone(c.captures)
	c.mu.Unlock()
	for key, running := range captures {
		c.end(key, running)
	}
}

// Close implements [browser.Conn]: it closes the connection to the browser after the captures that
// are under way, for which it waits up to [LeaveTimeout].
func (c *Client) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), LeaveTimeout)
	defer cancel()
	await(ctx, c.Leave())
	c.conn.Close()
	c.sending.Wait()
	c.Lost()
}

// The browser's messages, as Chromium writes them, and as packages multiplex and virtual do.
const (
	idHead       = `{"id":`
	attachedHead = `{"method":"Target.attachedToTarget","params":{"sessionId":"`
	targetHead   = `,"targetInfo":{"targetId":"`
	detachedHead = `{"method":"Target.detachedFromTarget","params":{"sessionId":"`
	goneHead     = `{"method":"Runtime.executionContextsCleared"`
	// Beginning and End are how much of a message Receive reads at the most.
	Beginning, End = 256, 128
)

// Receive reads the beginning and the end of a message of the browser; both may be all of it.
func (c *Client) Receive(beginning, end []byte) {
	if rest, ok := bytes.CutPrefix(beginning, []byte(idHead)); ok {
		if c.running.Load() > 0 {
			id, _, _ := bytes.Cut(rest[:min(len(rest), maxID)], []byte(","))
			c.responded(request{browser.SessionOf(end), string(id)})
		}
	} else if rest, ok := bytes.CutPrefix(beginning, []byte(attachedHead)); ok {
		id, rest, _ := bytes.Cut(rest, []byte(`"`))
		if rest, ok = bytes.CutPrefix(rest, []byte(targetHead)); ok {
			page, _, _ := bytes.Cut(rest, []byte(`"`))
			c.attached(string(id), session{string(page), browser.SessionOf(end)})
		}
	} else if rest, ok := bytes.CutPrefix(beginning, []byte(detachedHead)); ok {
		id, _, _ := bytes.Cut(rest, []byte(`"`))
		c.detached(string(id))
	} else if c.running.Load() > 0 && bytes.HasPrefix(beginning, []byte(goneHead)) {
		c.gone(browser.SessionOf(end))
	}
}

// maxID bounds the digits of an id with its sign, and the comma.
const maxID = 12

func (c *Client) responded(to request) {
	c.mu.Lock()
	running, ok := c.captures[to]
	c.mu.Unlock()
	if ok {
		c.end(to, running)
	}
}

// gone shortens the wait for a session's captures: the page has another document.
func (c *Client) gone(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, running := range c.captures {
		if key.session == session {
			running.timeout.Reset(goneTimeout)
		}
	}
}

func (c *Client) attached(id string, s session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[id] = s
}

// detached forgets a session and those within it.
func (c *Client) detached(ended string) {
	c.mu.Lock()
	gone := map[string]bool{}
	for id := range c.sessions {
		gone[id] = c.within(id, func(id string, _ session) bool { return id == ended })
	}
	maps.DeleteFunc(c.sessions, func(id string, _ session) bool { return gone[id] })
	captures := maps.Clone(c.captures)
	c.mu.Unlock()
	for key, running := range captures {
		if gone[key.session] {
			c.end(key, running)
		}
	}
}
