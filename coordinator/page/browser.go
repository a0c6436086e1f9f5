package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/coordinator/page/routing"
)

const (
	defaultConsoleSize = 1000
	defaultNetworkSize = 1000
	// eventQueue is how many unhandled events of the whole browser may queue up.
	eventQueue = 16384
)

// Browser is one connection to a browser and the pages that are attached over it.
type Browser struct {
	conn       *cdp.Conn
	opts       Options
	log        *slog.Logger
	events     *cdp.Subscription
	done       chan struct{} // closed when all events are handled
	running    goroutines    // of this connection; Close waits for them
	captures   goroutines    // Close waits for them before it ends the connection
	targets    targets
	router     *routing.Router
	recordings profiling.Recordings
	downloads  *downloads

	// mu guards the fields that follow. The locks of one page, and of targets, are taken after it.
	mu       sync.Mutex
	pages    map[target.ID]*attachment
	sessions map[target.SessionID]attached // of pages, and of their frames and workers
	scripts  map[*agentScript]bool         // that run, or that have no caller that waits
	previews map[target.ID]*Page           // open print previews; nil: of which page is not known
	user     Presence                      // as in Options, and NoUser once the browser is known to be headless
}

// attached is a session whose events are handled, and its page.
type attached struct {
	page    *Page
	session *cdp.Session
}

// attachment is a page that is attached, or that one caller attaches while others
// wait.
type attachment struct {
	ready chan struct{} // closed when the fields that follow are set
	// Neither is set if that caller has given up: another one attaches then.
	page *Page
	err  error
}

// Connect connects to a browser by its CDP URL (http or ws).
func Connect(ctx context.Context, url string, opts *Options) (*Browser, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.ActionTimeout = cmp.Or(o.ActionTimeout, defaultActionTimeout)
	o.NavigateTimeout = cmp.Or(o.NavigateTimeout, defaultNavigateTimeout)
	o.CallTimeout = cmp.Or(o.CallTimeout, defaultCallTimeout)
	o.PointerRest = cmp.Or(o.PointerRest, defaultPointerRest)
	if o.Refs == nil {
		o.Refs = new(frame.Refs)
	}
	if o.Indexes == nil {
		o.Indexes = new(Indexes)
	}
	o.ConsoleSize = cmp.Or(o.ConsoleSize, defaultConsoleSize)
	o.NetworkSize = cmp.Or(o.NetworkSize, defaultNetworkSize)

	// A virtual browser names its clients to each other.
	name := http.Header{"User-Agent": {"Browser-Coordinator"}}
	conn, err := cdp.Dial(ctx, url, &cdp.Options{
		Logger: o.Logger, Header: name, QueueSize: eventQueue, CallTimeout: o.CallTimeout,
	})
	if err != nil {
		return nil, err
	}
	b := &Browser{
		conn: conn, opts: o, log: o.Logger, events: conn.ListenAll(handledEvents()...), done: make(chan struct{}),
		router: routing.New(routing.Options{
			Conn: conn, CallTimeout: o.CallTimeout, Logger: o.Logger, Owns: o.Owns, Owner: o.Owner,
		}),
		targets:  targets{indexes: o.Indexes},
		pages:    map[target.ID]*attachment{},
		sessions: map[target.SessionID]attached{},
		scripts:  map[*agentScript]bool{},
		user:     o.User,
	}
	b.downloads = newDownloads(conn, o.Downloads, &b.running, b.disposition)
	go b.eventLoop()
	if _, err := protocol.Call(ctx, conn, target.SetDiscoverTargets, target.SetDiscoverTargetsParams{
		Discover: true,
	}); err != nil {
		b.Close()
		return nil, fmt.Errorf("watch the browser's pages: %w", err)
	}
	if err := b.downloads.enable(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("receive the browser's downloads: %w", err)
	}
	return b, nil
}

// disposition is the Content-Disposition of the last response from an address to one of the pages.
func (b *Browser) disposition(url string) (header string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, in := range b.sessions {
		if header == "" {
			header = in.page.history.Network.LastHeader(url, "Content-Disposition")
		}
	}
	return header
}

// proxy is that of an address, see Options.
func (b *Browser) proxy(address string) string {
	if b.opts.Proxy == nil {
		return ""
	}
	return b.opts.Proxy(address)
}

// ID identifies the browser to each of its clients: the last part of its address.
func (b *Browser) ID() string { return path.Base(b.conn.URL()) }

// Done is closed when the connection has ended.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Close ends the connection. The browser and its pages stay open.
func (b *Browser) Close() error {
	b.stopScripts()
	captured := make(chan struct{})
	go func() {
		b.captures.Wait()
		close(captured)
	}()
	select {
	case <-captured:
	case <-b.conn.Done():
	case <-time.After(captureTimeout): // the page is paused, or hangs
	}
	err := b.conn.Close()
	<-captured
	<-b.done
	b.router.Wait()
	b.running.Wait()
	return err
}

// captureTimeout bounds the wait for captures when the connection ends.
const captureTimeout = 5 * time.Second

// flush waits until the events received so far are handled. The event
// loop never blocks, so neither does flush.
func (b *Browser) flush() {
	done := make(chan struct{})
	if !b.events.Mark(done) {
		return
	}
	select {
	case <-done:
	case <-b.done:
	}
}

// ReleaseButtons releases the buttons of the mouse that the agent holds in its pages.
func (b *Browser) ReleaseButtons(ctx context.Context) error {
	b.mu.Lock()
	pages := map[*Page]bool{}
	for _, at := range b.sessions {
		pages[at.page] = true
	}
	b.mu.Unlock()
	var err error
	for p := range pages {
		err = errors.Join(err, p.input.Release(ctx))
	}
	return err
}

// detach ends a session without waiting for the response.
func (b *Browser) detach(s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), respondTimeout)
	defer cancel()
	params := target.DetachFromTargetParams{SessionID: s.ID()}
	if _, err := b.conn.Start(ctx, target.CommandDetachFromTarget, params); err != nil {
		b.log.Debug("page: detach", "err", err)
	}
}

// translate maps errors of the connection to errors of this package.
func translate(err error) error {
	if errors.Is(err, cdp.ErrClosed) {
		return fmt.Errorf("%w: %w", ended(err), err)
	}
	for from, to := range map[error]error{cdp.ErrTargetCrashed: ErrCrashed, cdp.ErrSessionGone: ErrPageClosed} {
		if errors.Is(err, from) {
			return fmt.Errorf("%w: %w", to, err)
		}
	}
	return err
}

// join attaches to a page, once per connection.
func (b *Browser) join(ctx context.Context, id target.ID) (*Page, error) {
	b.mu.Lock()
	a := b.pages[id]
	if a == nil {
		a = &attachment{ready: make(chan struct{})}
		b.pages[id] = a
		b.mu.Unlock()
		page, err := b.attach(ctx, id)
		if err != nil {
			b.mu.Lock()
			delete(b.pages, id)
			b.mu.Unlock()
		}
		if a.page = page; ctx.Err() == nil {
			a.err = err
		}
		close(a.ready)
		return page, err
	}
	b.mu.Unlock()
	select {
	case <-a.ready:
		if a.page == nil && a.err == nil {
			return b.join(ctx, id)
		}
		return a.page, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("attach to page %s: %w", id, context.Cause(ctx))
	}
}

// attach opens the session and turns on the domains whose events are needed. It sends
// the commands together and waits only for the frame tree, so that it can attach to a
// page that hangs in a dialog or in the debugger.
func (b *Browser) attach(ctx context.Context, id target.ID) (*Page, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.opts.CallTimeout, cdp.ErrTimeout)
	defer cancel()
	session, err := b.conn.Attach(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("attach to page %s: %w", id, translate(err))
	}
	p := b.newPage(id, session)
	b.mu.Lock()
	b.sessions[session.ID()] = attached{p, session}
	b.mu.Unlock()
	if err = p.enable(ctx, session); err == nil {
		err = p.emulation.SendViewport(ctx)
	}
	if err == nil {
		var timeout *TimeoutError
		var hung *HungError
		var dialog *DialogError
		err = p.readFrames(ctx)
		if errors.As(err, &timeout) || errors.As(err, &hung) || errors.As(err, &dialog) {
			// A page that hangs can still be navigated or resumed. A call that needs its response
			// reports the hang itself.
			b.log.Warn("page: attached to a page that does not respond", "page", id)
			err = nil
		}
	}
	if err != nil {
		b.forget(p)
		b.detach(session)
		return nil, p.explain(err, "attaching to page "+string(id))
	}
	return p, nil
}

// record attaches to a page that has appeared, for its console and network.
// Other callers of join share the attachment. A hung page delays no other page.
func (b *Browser) record(id target.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), b.opts.CallTimeout)
	defer cancel()
	if _, err := b.join(ctx, id); err != nil {
		b.log.Debug("page: not recorded", "page", id, "err", err)
	}
}

// refElsewhere finds the page, other than the given one, that a ref belongs to.
func (b *Browser) refElsewhere(than *Page, n int) (label, address string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, at := range b.sessions {
		if at.page == than {
			continue
		}
		if label, ok = at.page.frames.Label(n); ok {
			return label, at.page.frames.URL(), true
		}
	}
	return "", "", false
}

// dialogElsewhere returns a dialog that is open in another page, which blocks all pages
// that share its process, and that page's URL; nil: there is none. near: both pages are of
// the same host.
func (b *Browser) dialogElsewhere(than *Page) (place string, near bool, open *Dialog) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, at := range b.sessions {
		if dialog := at.page.Dialog(); at.page != than && dialog != nil && !near {
			place, near, open = at.page.URL(), at.page.Host() == than.Host(), dialog
		}
	}
	return place, near, open
}

// eventLoop is the only reader of the browser's events. The Browser owns it, it ends
// with the connection, and no handler blocks.
func (b *Browser) eventLoop() {
	defer close(b.done)
	for e := range b.events.C() {
		if e.Mark != nil {
			close(e.Mark)
			continue
		}
		if handle := browserEvents[e.Method]; handle != nil {
			b.report(handle(b, e))
			continue
		}
		b.mu.Lock()
		at := b.sessions[e.SessionID]
		b.mu.Unlock()
		if at.page != nil {
			b.report(at.handle(e))
		}
	}
	// After an overflow, the state of the pages is wrong. The connection must end.
	b.conn.CloseFor(b.events.Err())
	reason := ended(b.conn.Err())
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, at := range b.sessions {
		at.page.life.End(reason)
		b.endShared(at.page)
	}
}

// handle handles an event of a page's session.
func (a attached) handle(e cdp.Event) error {
	if handle := pageEvents[e.Method]; handle != nil {
		return handle(a.page, a.session, e)
	}
	err := a.page.history.Handle(a.session, e)
	a.page.life.Wake()
	return err
}

func (b *Browser) report(err error) {
	if err != nil {
		b.log.Error("page: cannot decode an event of the browser", "err", err)
	}
}

func handledEvents() []string {
	return slices.Concat(slices.Collect(maps.Keys(browserEvents)), slices.Collect(maps.Keys(pageEvents)),
		history.Events())
}

// handler decodes an event and calls f with it.
func handler[E any](f func(b *Browser, session target.SessionID, e *E)) func(*Browser, cdp.Event) error {
	return func(b *Browser, raw cdp.Event) error {
		e := new(E)
		if err := raw.Decode(e); err != nil {
			return err
		}
		f(b, raw.SessionID, e)
		return nil
	}
}

var browserEvents map[string]func(*Browser, cdp.Event) error

func init() {
	// In init, because the handlers refer to this table.
	browserEvents = map[string]func(*Browser, cdp.Event) error{
		target.TargetCreated.Method:      handler((*Browser).targetCreated),
		target.TargetInfoChanged.Method:  handler((*Browser).targetChanged),
		target.TargetDestroyed.Method:    handler((*Browser).targetDestroyed),
		target.AttachedToTarget.Method:   handler((*Browser).targetAttached),
		target.DetachedFromTarget.Method: handler((*Browser).targetDetached),
		browser.DownloadWillBegin.Method: handler((*Browser).downloadBegins),
		browser.DownloadProgress.Method:  handler((*Browser).downloadProgress),
	}
}

func (b *Browser) targetCreated(_ target.SessionID, e *target.EventTargetCreated) {
	if isPreview(e.TargetInfo) {
		b.previewOpened(e.TargetInfo)
	}
	if !isPage(e.TargetInfo) {
		return
	}
	b.targets.created(e.TargetInfo)
	if b.opts.Record {
		_ = b.running.Go(func() { b.record(e.TargetInfo.TargetID) }) // a call attaches to it otherwise
	}
	b.wake()
}

func (b *Browser) targetChanged(_ target.SessionID, e *target.EventTargetInfoChanged) {
	if isPreview(e.TargetInfo) {
		b.previewOpened(e.TargetInfo)
	}
	if b.targets.changed(e.TargetInfo) {
		b.wake()
	}
}

func (b *Browser) targetDestroyed(_ target.SessionID, e *target.EventTargetDestroyed) {
	b.targets.destroyed(e.TargetID)
	b.previewClosed(e.TargetID)
}

func (b *Browser) downloadBegins(_ target.SessionID, e *browser.EventDownloadWillBegin) {
	b.downloads.begins(e)
}

func (b *Browser) downloadProgress(_ target.SessionID, e *browser.EventDownloadProgress) {
	b.downloads.progress(e)
}

// wake makes the waiters of all pages check the state again.
func (b *Browser) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, at := range b.sessions {
		at.page.life.Wake()
	}
}

// targetAttached registers a frame in another process, or a worker of a page.
func (b *Browser) targetAttached(parent target.SessionID, e *target.EventAttachedToTarget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.sessions[parent].page
	if p == nil {
		return
	}
	session := b.conn.Session(e.SessionID)
	if err := b.setUp(p, session, e); err != nil {
		b.log.Debug("page: a target has gone before it was set up", "type", e.TargetInfo.Type, "err", err)
	}
}

// setUp turns on the events of a frame in another process or of a worker, and applies the
// network settings to it. The event loop waits for no response here. mu is held.
func (b *Browser) setUp(p *Page, s *cdp.Session, e *target.EventAttachedToTarget) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), respondTimeout)
	defer cancel()
	switch info := e.TargetInfo; info.Type {
	case "iframe":
		b.sessions[s.ID()] = attached{p, s}
		p.frames.AttachedElsewhere(s, protocol.FrameID(info.TargetID), info.ParentFrameID, info.URL)
		p.life.Wake()
		err = p.enable(ctx, s)
		p.emulation.Reapply(ctx, s)
		p.history.Network.Unread(s)
		p.observer.SessionAttached(s)
	case "worker":
		b.sessions[s.ID()] = attached{p, s}
		err = history.Enable(ctx, s)
		p.history.Network.WorkerStarted(s, info.TargetID)
		fallthrough
	default:
		err = errors.Join(err, b.router.Admit(ctx, p.emulation, s))
	}
	// Resume only targets that wait for this connection; another debugger resumes its own.
	if e.WaitingForDebugger {
		_, resumed := s.Start(ctx, runtime.CommandRunIfWaitingForDebugger, nil)
		err = errors.Join(err, resumed)
	}
	return err
}

func (b *Browser) targetDetached(_ target.SessionID, e *target.EventDetachedFromTarget) {
	b.router.Remove(e.SessionID)
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.sessions[e.SessionID]
	delete(b.sessions, e.SessionID)
	p := at.page
	if p == nil {
		return
	}
	// The browser reports a frame again if it continues in another process.
	p.history.Network.SessionEnded(at.session)
	p.frames.SessionEnded(at.session)
	if at.session != p.session {
		return
	}
	delete(b.pages, p.id)
	p.life.End(ErrPageClosed)
	b.endShared(p)
}

// endShared ends what the agent has claimed and set on a page, which has closed.
func (b *Browser) endShared(p *Page) {
	p.emulation.Ended()
	b.recordings.Ended(p.id)
}

// forget drops a page after a failed attachment.
func (b *Browser) forget(p *Page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.sessions, func(_ target.SessionID, at attached) bool { return at.page == p })
}

// goroutines are those of a connection. Its owner may end it while calls are under way.
type goroutines struct {
	running sync.WaitGroup

	mu       sync.Mutex
	finished bool // mu guards it: no goroutine is added while Wait waits
}

// Go runs f in a goroutine that Wait waits for. After Wait was called, it returns ErrBrowserGone, and f
// never runs.
func (g *goroutines) Go(f func()) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.finished {
		return ErrBrowserGone
	}
	g.running.Go(f)
	return nil
}

// Wait waits for the goroutines.
func (g *goroutines) Wait() {
	g.mu.Lock()
	g.finished = true
	g.mu.Unlock()
	g.running.Wait()
}
