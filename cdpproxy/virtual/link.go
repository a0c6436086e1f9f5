package virtual

import (
	"context"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/coder/websocket"
)

// link is a session's connection to its page. Each session has its own: the
// debugger sends events and responses to the connection that requested them, so
// clients are never mixed up.
type link struct {
	session *session
	target  *target
	conn    *conn
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	// resetsDone is closed when the session has ended and no response is pending.
	resetsDone chan struct{}

	// Guarded by Browser.mu.
	ended      bool // as the session: no setting is changed, and nothing sent to the client
	pending    int  // responses to resets and to scripts whose identifiers have not come yet
	subscribed map[string]bool
	enabled    map[string]bool // domains, and a trace
	gathering  *gathering      // while Runtime.enable is being answered
	unloaded   bool            // a worker that has not been reported as loaded
}

// newLink starts a link. Browser.mu is held.
func newLink(s *session, t *target) *link {
	l := &link{
		session: s, target: t, resetsDone: make(chan struct{}),
		subscribed: map[string]bool{}, enabled: map[string]bool{},
	}
	l.unloaded = strings.HasSuffix(t.info.Type, "worker")
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.conn = t.browser.newConn(t.page.URL, l.event)
	if s.kind == ofPage {
		l.subscribe("Inspector")
	}
	s.client.wg.Add(1)
	go l.run()
	return l
}

// run runs the connection. If it ends by itself, the session ends too.
func (l *link) run() {
	s := l.session
	defer s.client.wg.Done()
	err := l.conn.run(l.ctx)
	l.cancel()
	b := s.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	l.disconnect(err)
	l.release() // the page may live on without this connection
}

// disconnect ends the session with its connection. The browser's session instead gets
// another connection when there is another page, or a command. mu is held.
func (l *link) disconnect(err error) {
	s := l.session
	b := s.client.browser
	if s.ended || s.link != l || s.kind == ofBrowser {
		return
	}
	b.log.Debug("a session's connection ended", "page", l.target.page.Key, "error", err)
	s.link = nil
	if s.id == "" {
		s.client.downstream.End(uint16(websocket.StatusGoingAway), "the page has closed")
		return
	}
	s.finish(true)
}

// leave ends the link, and its settings are reset in a page that lives on.
// Browser.mu is held, so leave does not wait.
func (l *link) leave() {
	l.release()
	if !l.target.offered {
		l.cancel()
	}
	l.session.client.wg.Add(1)
	go l.end()
}

// release begins the reset of what the session has set. mu is held.
func (l *link) release() {
	if l.ended {
		return
	}
	l.ended = true
	l.pending++
	l.undo()
	l.resetDone()
}

// resetDone counts a response that was pending. mu is held.
func (l *link) resetDone() {
	if l.pending--; l.ended && l.pending == 0 {
		close(l.resetsDone)
	}
}

func (l *link) end() {
	defer l.session.client.wg.Done()
	// A busy page may take long, but earlier commands finish before that.
	select {
	case <-l.resetsDone:
	case <-l.ctx.Done():
	case <-l.target.ctx.Done():
	case <-l.session.client.browser.ending.Done():
	}
	l.conn.settle(l.ctx)
	timer := time.AfterFunc(closeTimeout, l.cancel)
	defer timer.Stop()
	<-l.conn.closed
}

// subscribe subscribes to a domain's events, once. mu is held.
func (l *link) subscribe(domain string) {
	if !l.subscribed[domain] {
		l.subscribed[domain] = true
		l.conn.start("JsDebug.subscribe", encode(subscription{Events: []string{domain + ".*"}}), nil)
	}
}

// command handles a command to the page. mu is held.
func (l *link) command(m command) {
	domain, name, _ := strings.Cut(m.Method, ".")
	if r, restricted := restrict(m.Method, m.Params); restricted {
		if r.reason == "" {
			l.respondInOrder(m)
		} else {
			l.session.client.reply(m, nil, refused(m.Method+": "+r.reason))
		}
		return
	}
	st, resets, isSetting := settingOf(m)
	if name == "enable" {
		l.enabled[domain] = true
	}
	if name == "enable" || unasked[domain] || m.Method == "Runtime.addBinding" {
		l.subscribe(domain)
	}
	switch {
	case resets:
		l.reset(&m, st)
	case isSetting:
		l.set(&m, st)
	case name == "disable":
		l.turnOff(domain)
		l.respondInOrder(m) // the debugger's domain stays on
	case m.Method == "Runtime.enable":
		l.enableRuntime(m)
	case m.Method == "Debugger.enable":
		m.Params = nil // the debugger chooses them
		l.forward(m, nil)
	case m.Method == "Page.addScriptToEvaluateOnNewDocument", m.Method == "Page.addScriptToEvaluateOnLoad":
		l.addScript(m)
	case m.Method == "Page.removeScriptToEvaluateOnNewDocument", m.Method == "Page.removeScriptToEvaluateOnLoad":
		l.removeScript(m)
	default:
		l.forward(m, nil)
	}
}

// onceOnly are commands that a session accepts once, with Chromium's error for the
// second. Here an earlier client has sent the first. Playwright treats a page that
// refuses it as broken.
var onceOnly = map[string]string{
	"Page.setFontFamilies": "can only be set once",
}

// forward sends a command unchanged, and its response back. answered, which may be
// nil, is called before the response.
func (l *link) forward(m command, answered func(error)) {
	l.conn.start(m.Method, m.Params, func(result jsonv2.Value, err error) {
		if first := onceOnly[m.Method]; err != nil && first != "" && strings.Contains(err.Error(), first) {
			result, err = empty, nil
		}
		if m.Method == "Tracing.start" && err == nil {
			l.enabled[trace] = true
		}
		if answered != nil {
			answered(err)
		}
		l.reply(m, result, err)
	})
}

// trace is on in the session that receives the events of the page's trace, until
// the trace is complete, some time after its end.
const trace = "trace"

// turnOff turns off a domain's events at once: the next X.enable may follow before the
// response to X.disable.
func (l *link) turnOff(domain string) { delete(l.enabled, domain) }

func (l *link) reply(m command, result jsonv2.Value, err error) {
	if !l.ended && len(m.ID) > 0 {
		l.session.client.reply(m, result, err)
	}
}

// respondInOrder responds with success at the command's place in the stream: after everything
// that the page has sent before.
func (l *link) respondInOrder(m command) {
	l.conn.start("JsDebug.subscribe", encode(subscription{Events: []string{}}), func(jsonv2.Value, error) {
		l.reply(m, empty, nil)
	})
}

// script is the setting of a script for new documents. Only the response to its
// command has the identifier.
func script(reset string, params jsonv2.Value) setting {
	var p struct {
		ID string `json:"identifier"`
	}
	_ = jsonv2.Unmarshal(params, &p, lenient)
	return setting{reset: reset, parameters: string(encode(p))}
}

func (l *link) addScript(m command) {
	if l.ended {
		return
	}
	l.pending++
	l.conn.start(m.Method, m.Params, func(result jsonv2.Value, err error) {
		if err == nil {
			st := script(strings.Replace(m.Method, ".add", ".remove", 1), result)
			l.target.changes = append(l.target.changes, &change{link: l, setting: st, command: &m})
			if l.ended {
				l.undo()
			}
		}
		l.reply(m, result, err)
		l.resetDone()
	})
}

// removeScript removes a script of this session. The identifiers of other sessions
// look the same.
func (l *link) removeScript(m command) {
	st := script(m.Method, m.Params)
	if l.ownChange(st) == nil {
		l.reply(m, nil, refused("Script not found"))
		return
	}
	l.reset(&m, st)
}

// event forwards the events that the client has subscribed to. mu is held.
func (l *link) event(method string, params jsonv2.Value) {
	domain, _, _ := strings.Cut(method, ".")
	holds := true
	if command, ok := forHolders[method]; ok {
		holds = l.ownChange(settings().settings[command]) != nil
	}
	if method == "Runtime.bindingCalled" {
		// This session gets the binding calls of every client.
		holds = l.ownChange(settings().settings["Runtime.addBinding"].one(params)) != nil
	}
	repeated := method == scriptLoaded && !l.unloaded
	if method == scriptLoaded {
		l.unloaded = false
	}
	want := !l.ended && holds && !repeated && domain != "Target" && (l.enabled[domain] || unasked[domain] ||
		method == "Runtime.bindingCalled")
	if domain == "Tracing" {
		want = want && l.enabled[trace]
		if method == "Tracing.tracingComplete" {
			delete(l.enabled, trace)
		}
	}
	if want && domain == "Runtime" && l.gathering != nil && method != "Runtime.bindingCalled" {
		l.gathering.add(method, params)
		want = false
	}
	if want {
		l.session.client.event(l.session, method, params)
	}
}
