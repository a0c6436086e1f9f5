package pagebrowser

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// link is a session's connection to its page. Each session has its own: the
// debugger tells events and answers to who asked on that connection, so clients
// are never mixed up.
type link struct {
	session *session
	target  *target
	frame   string // the page's main frame, whose id is the target's; else empty
	conn    *conn
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc

	mu         sync.Mutex // guards the fields that follow; taken after Browser.mu
	subscribed map[string]bool
	on         switches        // the domains, the bindings by their keys, and a trace
	held       []*holding      // what this session has set up, oldest first
	awaited    []chan struct{} // commands whose undo comes with their answer
	gathering  *gathering      // while Runtime.enable is being answered
	unloaded   bool            // a worker whose script has not been told to be loaded
	left       bool
}

// newLink starts a link. Browser.mu is held.
func newLink(s *session, t *target) *link {
	l := &link{
		session: s, target: t,
		subscribed: map[string]bool{},
	}
	l.unloaded = strings.HasSuffix(t.info.Type, "worker")
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.conn = newConn(t.page.URL, l.event)
	if s.kind == ofPage && t.info.Type == "page" {
		l.frame = t.info.ID
	}
	if s.kind == ofPage {
		l.subscribe("Inspector")
	}
	s.client.wg.Add(1)
	go l.run()
	return l
}

// run carries the connection. If it ends by itself, so does the session.
func (l *link) run() {
	s := l.session
	defer s.client.wg.Done()
	err := l.conn.run(l.ctx)
	l.cancel()
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.ended || s.link != l || s.kind == ofBrowser { // the next command finds another page
		return
	}
	b.log.Debug("a session's connection ended", "page", l.target.page.Key, "error", err)
	s.link = nil
	for _, h := range l.letGo() {
		l.target.owe(h) // the page goes on without this connection
	}
	if s.id == "" {
		s.client.end(closeGoingAway, "the page has closed")
		return
	}
	s.finish(true)
}

// leave ends the link, which takes back what it has set up in a page that goes
// on. Browser.mu is held; nothing is waited for.
func (l *link) leave() {
	last := l.letGo()
	if !l.target.offered || l.ctx.Err() != nil {
		for _, h := range last {
			l.target.owe(h)
		}
		l.cancel()
		return
	}
	l.session.client.wg.Add(1)
	go l.takeBack(last)
}

// letGo lets go of all that the link holds, and returns that whose undo is to be
// said in the page's session then. Browser.mu is held.
func (l *link) letGo() (last []*holding) {
	l.mu.Lock()
	l.left = true
	held := l.held
	l.held = nil
	l.mu.Unlock()
	for _, h := range slices.Backward(held) {
		switch newest, other := l.release(hold{l.target, h.key}, h); {
		case other == nil:
			last = append(last, h)
		case newest && !alike(h.command, other.command):
			last = append(last, &holding{key: h.key, undo: undo{other.command.Method, other.command.Params}, word: other})
		}
	}
	return last
}

func (l *link) takeBack(last []*holding) {
	defer l.session.client.wg.Done()
	l.mu.Lock()
	awaited := slices.Clone(l.awaited)
	l.mu.Unlock()
	for _, h := range last {
		heard := make(chan struct{})
		awaited = append(awaited, heard)
		l.conn.start(h.undo.method, h.undo.params, func(_ json.Value, err error) {
			defer close(heard)
			if errors.Is(err, errGone) {
				b := l.session.client.browser
				b.mu.Lock()
				defer b.mu.Unlock()
				l.target.owe(h)
				return
			}
			// Another client may have begun by its own connection before this came.
			if other := l.newest(h.key); other != nil && other != h.word {
				l.again(other)
			}
		})
	}
	// A page may be busy for long, and what it was asked for before is done then.
	for _, answered := range awaited {
		select {
		case <-answered:
		case <-l.ctx.Done():
		case <-l.target.ctx.Done():
		case <-l.session.client.browser.closing:
		}
	}
	l.conn.settle(l.ctx)
	timer := time.AfterFunc(farewell, l.cancel)
	defer timer.Stop()
	<-l.conn.gone
}

// room waits while the client is too far ahead of its page.
func (l *link) room() { _ = l.conn.out.room(l.ctx, maxAhead) }

// subscribe asks for a domain's events, once. mu is held, or the link is new.
func (l *link) subscribe(domain string) {
	if !l.subscribed[domain] {
		l.subscribed[domain] = true
		l.conn.start("JsDebug.subscribe", encode(subscription{Events: []string{domain + ".*"}}), nil)
	}
}

// command carries out a command to the page.
func (l *link) command(m command) {
	domain, name, _ := strings.Cut(m.Method, ".")
	switch policies[m.Method] {
	case refuse:
		l.session.client.reply(l.session, m.ID, nil, refused(m.Method+": "+debuggerRefusal))
		return
	case lasting:
		l.session.client.reply(l.session, m.ID, nil, refused(m.Method+": "+lastingRefusal))
		return
	case absorb:
		l.mark(m, func() {})
		return
	}
	if u, ok := takesBack(m); ok {
		l.end(m, u)
		return
	}
	if m.Method == "Runtime.releaseObjectGroup" && ofDebugger(m.Params) {
		l.mark(m, func() {})
		return
	}
	switch {
	case name == "disable":
		l.mark(m, l.off(domain)) // the debugger's domain stays on
	case m.Method == "Runtime.enable":
		l.enableRuntime(m)
	case name == "enable":
		l.mu.Lock()
		l.on.turnOn(domain)
		l.subscribe(domain)
		l.mu.Unlock()
		if domain == "Debugger" {
			m.Params = nil // they are the debugger's to choose
		}
		l.forward(m)
	case m.Method == "Page.addScriptToEvaluateOnNewDocument", m.Method == "Page.addScriptToEvaluateOnLoad":
		l.addScript(m)
	case m.Method == "Page.removeScriptToEvaluateOnNewDocument", m.Method == "Page.removeScriptToEvaluateOnLoad":
		l.removeScript(m)
	case m.Method == "Tracing.start":
		l.startTrace(m)
	case m.Method == "Runtime.addBinding":
		l.addBinding(m)
	case m.Method == "Runtime.removeBinding":
		l.removeBinding(m)
	default:
		if unasked[domain] {
			l.mu.Lock()
			l.subscribe(domain)
			l.mu.Unlock()
		}
		l.forward(m)
	}
}

// forward sends a command as it is, and its answer back. If it fails, what it was
// to set up is forgotten, and failed is called.
func (l *link) forward(m command, failed ...func()) {
	answered := func(error) {}
	if u, ok := undoOf(m); ok {
		answered = l.hold(u.key(), u, m)
	}
	l.conn.start(m.Method, m.Params, func(result json.Value, err error) {
		if again := onceOnly[m.Method]; err != nil && again != "" && strings.Contains(err.Error(), again) {
			result, err = empty, nil
		}
		answered(err)
		if err != nil {
			for _, forget := range failed {
				forget()
			}
		}
		l.reply(m.ID, result, err)
	})
}

// trace is what a session has turned on that hears of the page's trace: until it
// is complete, which is after its end.
const trace = "trace"

func (l *link) startTrace(m command) {
	l.mu.Lock()
	another := l.on.isOn(trace)
	l.on.turnOn(trace)
	l.subscribe("Tracing")
	l.mu.Unlock()
	if another { // the page refuses it, and the first goes on
		l.forward(m)
		return
	}
	l.forward(m, l.off(trace))
}

func (l *link) reply(id, result json.Value, err error) {
	l.mu.Lock()
	left := l.left
	l.mu.Unlock()
	if !left {
		l.session.client.reply(l.session, id, result, err)
	}
}

// mark answers as if done, at the command's place in the stream: what the page
// had said before is told before.
func (l *link) mark(m command, apply func()) {
	l.conn.start("JsDebug.subscribe", encode(subscription{Events: []string{}}), func(_ json.Value, err error) {
		apply()
		l.reply(m.ID, empty, nil)
	})
}

func scriptKey(params json.Value) string {
	var p struct {
		ID string `json:"identifier"`
	}
	_ = json.Unmarshal(params, &p, lenient)
	return "script " + p.ID
}

// addScript remembers the script's identifier, which only the answer tells.
func (l *link) addScript(m command) {
	answered := make(chan struct{})
	l.mu.Lock()
	l.awaited = append(l.awaited, answered)
	l.mu.Unlock()
	l.conn.start(m.Method, m.Params, func(result json.Value, err error) {
		defer close(answered)
		if err == nil {
			l.hold(scriptKey(result), undo{strings.Replace(m.Method, ".add", ".remove", 1), result}, m)
		}
		l.reply(m.ID, result, err)
	})
}

// removeScript removes a script of this session: another's has an identifier of the
// same kind.
func (l *link) removeScript(m command) {
	key := scriptKey(m.Params)
	l.mu.Lock()
	own := l.holds(key)
	l.mu.Unlock()
	if !own {
		l.reply(m.ID, nil, refused("Script not found"))
		return
	}
	l.forget(key)
	l.forward(m)
}

type binding struct {
	Name string `json:"name"`
}

func (b binding) key() string { return "binding " + b.Name }

func (l *link) addBinding(m command) {
	var p binding
	if f := decode(m.Params, &p); f == nil {
		l.mu.Lock()
		l.on.turnOn(p.key())
		l.subscribe("Runtime")
		l.mu.Unlock()
		l.hold(p.key(), undo{"Runtime.removeBinding", encode(p)}, m)
	}
	l.forward(m)
}

func (l *link) removeBinding(m command) {
	var p binding
	if decode(m.Params, &p) != nil {
		l.forward(m)
		return
	}
	off := l.off(p.key())
	if _, _, other := l.forget(p.key()); other != nil {
		l.mark(m, off)
		return
	}
	l.conn.start(m.Method, m.Params, func(result json.Value, err error) {
		off()
		l.reply(m.ID, result, err)
	})
}

// event passes on what the client has asked for. It is called by the
// connection's reader.
func (l *link) event(method string, params json.Value) {
	domain, _, _ := strings.Cut(method, ".")
	l.mu.Lock()
	again := method == scriptLoaded && !l.unloaded
	if method == scriptLoaded {
		l.unloaded = false
	}
	wanted := !l.left && !again && domain != "Target" && (l.on.isOn(domain) || unasked[domain])
	if asked, ok := forWhoAsked[method]; ok {
		wanted = wanted && l.holds(undos[asked].key())
	}
	if domain == "Tracing" {
		wanted = wanted && l.on.isOn(trace)
		if method == "Tracing.tracingComplete" {
			delete(l.on.on, trace)
		}
	}
	if method == "Runtime.bindingCalled" {
		// Bindings of every client are called in this session.
		var p binding
		wanted = !l.left && json.Unmarshal(params, &p, lenient) == nil && l.on.isOn(p.key())
	} else if wanted && domain == "Runtime" && l.gathering != nil {
		l.gathering.add(method, params)
		wanted = false
	}
	l.mu.Unlock()
	if wanted {
		l.session.client.event(l.session, method, params)
	}
}
