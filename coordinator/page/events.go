package page

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/chromedp/cdproto/browser"
	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/overlay"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/history"
)

// eventLoop is the only reader of the browser's events. The Browser owns it, it ends
// with the connection, and no handler blocks.
func (b *Browser) eventLoop() {
	defer close(b.done)
	for e := range b.sub.C() {
		if e.Mark != nil {
			close(e.Mark)
			continue
		}
		if handle := browserEvents[e.Method]; handle != nil {
			b.report(handle(b, e))
			continue
		}
		b.mu.Lock()
		p := b.sessions[e.SessionID]
		b.mu.Unlock()
		if p != nil {
			b.report(p.handle(e))
		}
	}
	// After an overflow, the state of the pages is wrong. The connection must end.
	b.conn.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.sessions {
		p.end(ErrBrowserGone)
	}
}

func (b *Browser) report(err error) {
	if err != nil {
		b.log.Error("page: an event was not understood", "err", err)
	}
}

func handledEvents() []string {
	return slices.Concat(slices.Collect(maps.Keys(browserEvents)), slices.Collect(maps.Keys(pageEvents)), history.Events())
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
		target.AttachedToTarget.Method:   handler((*Browser).attached),
		target.DetachedFromTarget.Method: handler((*Browser).detached),
		browser.DownloadWillBegin.Method: handler((*Browser).downloadBegins),
		browser.DownloadProgress.Method:  handler((*Browser).downloadProgress),
	}
}

func (b *Browser) targetCreated(_ target.SessionID, e *target.EventTargetCreated) {
	if !isPage(e.TargetInfo) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seq++
	b.opened[e.TargetInfo.TargetID] = e.TargetInfo
	b.openedAt[e.TargetInfo.TargetID] = b.seq
	if b.opts.Record {
		b.running.Go(func() { b.record(e.TargetInfo.TargetID) })
	}
	for _, p := range b.sessions {
		p.wake()
	}
}

func (b *Browser) targetChanged(_ target.SessionID, e *target.EventTargetInfoChanged) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.opened[e.TargetInfo.TargetID]
	if before == nil {
		return
	}
	b.opened[e.TargetInfo.TargetID] = e.TargetInfo
	if before.URL == "" {
		for _, p := range b.sessions {
			p.wake()
		}
	}
}

func (b *Browser) targetDestroyed(_ target.SessionID, e *target.EventTargetDestroyed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.opened, e.TargetID)
	delete(b.openedAt, e.TargetID)
}

// attached registers a frame in another process, or a worker of a page.
func (b *Browser) attached(parent target.SessionID, e *target.EventAttachedToTarget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.sessions[parent]
	if p == nil {
		return
	}
	session := b.conn.Session(e.SessionID)
	switch e.TargetInfo.Type {
	case "iframe":
		b.sessions[e.SessionID] = p
		p.frameAttachedElsewhere(session, e.TargetInfo)
	case "worker":
		b.sessions[e.SessionID] = p
		p.workerStarted(session, e.TargetInfo.TargetID)
	}
	if e.TargetInfo.Type != "iframe" {
		b.admitWorker(p, session)
	}
	// Release only targets that wait for this connection; another debugger releases its own.
	if e.WaitingForDebugger {
		b.release(session)
	}
}

// admitWorker applies the network settings to a worker of a page.
func (b *Browser) admitWorker(p *Page, s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), frameStartTimeout)
	defer cancel()
	if err := b.router.Admit(ctx, host{p}, s); err != nil {
		b.log.Debug("page: a worker has gone before its network was set", "err", err)
	}
}

// release resumes a target that was paused at its start.
func (b *Browser) release(s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), frameStartTimeout)
	defer cancel()
	if _, err := s.Start(ctx, runtime.CommandRunIfWaitingForDebugger, nil); err != nil {
		b.log.Debug("page: a target has gone before it was resumed", "err", err)
	}
}

func (b *Browser) detached(_ target.SessionID, e *target.EventDetachedFromTarget) {
	b.router.Remove(e.SessionID)
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.sessions[e.SessionID]
	delete(b.sessions, e.SessionID)
	if p == nil {
		return
	}
	p.leave(e.SessionID)
	if p.session.ID() != e.SessionID {
		return
	}
	delete(b.pages, p.id)
	p.end(ErrPageClosed)
}

// leave discards the state of a session that has ended, and its frames. The browser
// reports a frame again if it continues in another process.
func (p *Page) leave(id target.SessionID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[id]
	delete(p.sessions, id)
	p.history.Network.SessionEnded(s)
	p.frames.SessionEnded(s)
}

// forget drops a page after a failed attachment.
func (b *Browser) forget(p *Page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, other := range b.sessions {
		if other == p {
			delete(b.sessions, id)
		}
	}
}

func (p *Page) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notify()
}

// end is the only place that ends a page, or suspends it after a crash.
func (p *Page) end(reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.dialog = reason, nil
	p.interrupt(reason)
	p.notify()
}

// pageHandler decodes an event and calls f with Page.mu held. It then wakes all waiters
// for a state.
func pageHandler[E any](f func(p *Page, s *cdp.Session, e *E)) func(*Page, cdp.Event) error {
	return func(p *Page, raw cdp.Event) error {
		e := new(E)
		if err := raw.Decode(e); err != nil {
			return err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		f(p, p.sessions[raw.SessionID], e)
		p.notify()
		return nil
	}
}

func (p *Page) handle(e cdp.Event) error {
	if handle := pageEvents[e.Method]; handle != nil {
		return handle(p, e)
	}
	p.mu.Lock()
	s := p.sessions[e.SessionID]
	p.mu.Unlock()
	err := p.history.Handle(s, e)
	p.wake()
	return err
}

var pageEvents = map[string]func(*Page, cdp.Event) error{
	cdppage.FrameAttached.Method:            pageHandler((*Page).frameAttached),
	cdppage.FrameDetached.Method:            pageHandler((*Page).frameDetached),
	cdppage.FrameNavigated.Method:           pageHandler((*Page).frameNavigated),
	cdppage.NavigatedWithinDocument.Method:  pageHandler((*Page).navigatedWithin),
	cdppage.FrameRequestedNavigation.Method: pageHandler((*Page).navigationRequested),
	cdppage.FrameStartedNavigating.Method:   pageHandler((*Page).navigationStarted),
	cdppage.FrameStoppedLoading.Method:      pageHandler((*Page).stoppedLoading),
	cdppage.DomContentEventFired.Method:     pageHandler((*Page).domContent),
	cdppage.LoadEventFired.Method:           pageHandler((*Page).loadFired),
	cdppage.JavascriptDialogOpening.Method:  pageHandler((*Page).dialogOpening),
	cdppage.JavascriptDialogClosed.Method:   pageHandler((*Page).dialogClosed),
	cdppage.FileChooserOpened.Method:        pageHandler((*Page).chooserOpened),
	cdppage.WindowOpen.Method:               pageHandler((*Page).windowOpened),
	"Page.downloadWillBegin":                pageHandler((*Page).downloadBegins),
	runtime.ExecutionContextsCleared.Method: pageHandler((*Page).contextsCleared),
	debugger.ScriptParsed.Method:            pageHandler((*Page).scriptParsed),
	debugger.Paused.Method:                  pageHandler((*Page).debuggerPaused),
	overlay.InspectNodeRequested.Method:     pageHandler((*Page).nodePicked),
	overlay.InspectModeCanceled.Method:      pageHandler((*Page).pickCancelled),
	"Inspector.targetCrashed":               pageHandler((*Page).crashed),
	"Inspector.targetReloadedAfterCrash":    pageHandler((*Page).revived),
}

func (p *Page) frameAttached(s *cdp.Session, e *cdppage.EventFrameAttached) {
	p.frames.Attached(s, e.FrameID, e.ParentFrameID)
}

func (p *Page) frameDetached(s *cdp.Session, e *cdppage.EventFrameDetached) {
	// "swap": the frame continues in another process, whose session reports it.
	if e.Reason != cdppage.FrameDetachedReasonSwap {
		p.frames.Detached(e.FrameID)
	}
}

func (p *Page) frameNavigated(s *cdp.Session, e *cdppage.EventFrameNavigated) {
	p.frames.Committed(s, e.Frame)
	if e.Frame.ID != p.frames.Main() {
		return
	}
	restored := e.Type == cdppage.NavigationTypeBackForwardCacheRestore // it does not load again
	p.pending, p.loaded, p.parsed = "", restored, restored
	p.input.Choosers.Discard()
	p.commits++
	p.history.DocumentCommitted()
	p.lost = false
	if p.ended == ErrCrashed {
		p.ended = nil
	}
	p.guard.Committed(e.Frame.URL)
}

func (p *Page) navigatedWithin(_ *cdp.Session, e *cdppage.EventNavigatedWithinDocument) {
	p.frames.Moved(e.FrameID, e.URL)
	if e.FrameID == p.frames.Main() {
		p.moves++
	}
}

func (p *Page) navigationRequested(_ *cdp.Session, e *cdppage.EventFrameRequestedNavigation) {
	if e.FrameID == p.frames.Main() && e.Disposition == cdppage.ClientNavigationDispositionCurrentTab {
		p.leaveFor(e.URL)
	}
}

func (p *Page) navigationStarted(_ *cdp.Session, e *cdppage.EventFrameStartedNavigating) {
	if e.FrameID != p.frames.Main() {
		return
	}
	switch e.NavigationType {
	case cdppage.FrameStartedNavigatingNavigationTypeSameDocument, cdppage.FrameStartedNavigatingNavigationTypeHistorySameDocument:
		p.pending = ""
	default:
		p.leaveFor(e.URL)
	}
}

func (p *Page) stoppedLoading(_ *cdp.Session, e *cdppage.EventFrameStoppedLoading) {
	if e.FrameID == p.frames.Main() {
		p.pending, p.loaded, p.parsed = "", true, true
	}
}

// The load events have no frame id: those of the page's own session belong to the main
// frame.
func (p *Page) domContent(s *cdp.Session, _ *cdppage.EventDomContentEventFired) {
	if s == p.session {
		p.parsed = true
	}
}

func (p *Page) loadFired(s *cdp.Session, _ *cdppage.EventLoadEventFired) {
	if s == p.session {
		p.parsed, p.loaded = true, true
	}
}

func (p *Page) dialogOpening(_ *cdp.Session, e *cdppage.EventJavascriptDialogOpening) {
	p.dialog = &Dialog{Type: string(e.Type), Message: e.Message, Default: e.DefaultPrompt, URL: e.URL}
	p.interrupt(&DialogError{*p.dialog})
}

func (p *Page) dialogClosed(_ *cdp.Session, e *cdppage.EventJavascriptDialogClosed) {
	if p.dialog != nil && p.dialog.Type == "beforeunload" && !e.Result {
		p.pending = "" // the page stays
	}
	p.dialog = nil
}

func (p *Page) chooserOpened(s *cdp.Session, e *cdppage.EventFileChooserOpened) {
	p.input.Choosers.Opened(s, e)
}

func (p *Page) windowOpened(*cdp.Session, *cdppage.EventWindowOpen) { p.windows++ }

func (p *Page) downloadBegins(_ *cdp.Session, e *browser.EventDownloadWillBegin) {
	p.download, p.pending = e.URL, ""
}

func (p *Page) contextsCleared(s *cdp.Session, _ *runtime.EventExecutionContextsCleared) {
	p.frames.WorldsCleared(s)
}

func (p *Page) crashed(s *cdp.Session, _ *struct{}) {
	if s == p.session {
		p.ended, p.dialog, p.lost = ErrCrashed, nil, true
		p.interrupt(ErrCrashed)
	}
}

func (p *Page) revived(s *cdp.Session, _ *struct{}) {
	if s == p.session && p.ended == ErrCrashed {
		p.ended = nil
	}
	p.lost = p.lost && s != p.session
}

// frameAttachedElsewhere gives a frame the session of its own process.
func (p *Page) frameAttachedElsewhere(s *cdp.Session, info *target.Info) {
	p.mu.Lock()
	p.sessions[s.ID()] = s
	p.frames.AttachedElsewhere(s, protocol.FrameID(info.TargetID), info.ParentFrameID, info.URL)
	p.notify()
	p.mu.Unlock()
	p.enableFrame(s)
}

// frameStartTimeout bounds how long queueing the commands for a new frame may take.
const frameStartTimeout = time.Second

// enableFrame turns on the events of a frame in another process. The event loop calls
// it, so it waits for no response.
func (p *Page) enableFrame(s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), frameStartTimeout)
	defer cancel()
	if err := p.enable(ctx, s); err != nil {
		p.browser.log.Debug("page: a frame has gone before its events were on", "err", err)
	}
	p.emulation.Reapply(ctx, s)
	p.history.Network.Unread(s)
}

// workerStarted enables the network events of a worker of the page. It waits for no
// response.
func (p *Page) workerStarted(s *cdp.Session, id target.ID) {
	ctx, cancel := context.WithTimeout(context.Background(), frameStartTimeout)
	defer cancel()
	if err := history.Enable(ctx, s); err != nil {
		p.browser.log.Debug("page: a worker has gone before its events were on", "err", err)
	}
	p.mu.Lock()
	p.sessions[s.ID()] = s
	p.mu.Unlock()
	p.history.Network.WorkerStarted(s, id)
}
