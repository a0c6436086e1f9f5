package page

import (
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/overlay"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
)

// onPage decodes an event of a page's session and calls f with state.mu held. It then
// wakes all waiters for a state.
func onPage[E any](f func(p *Page, s *cdp.Session, e *E)) func(*Page, *cdp.Session, cdp.Event) error {
	return func(p *Page, s *cdp.Session, raw cdp.Event) error {
		e := new(E)
		if err := raw.Decode(e); err != nil {
			return err
		}
		p.state.mu.Lock()
		defer p.state.mu.Unlock()
		f(p, s, e)
		p.state.changed.Notify()
		return nil
	}
}

var pageEvents = map[string]func(*Page, *cdp.Session, cdp.Event) error{
	cdppage.FrameAttached.Method:            onPage(frameAttached),
	cdppage.FrameDetached.Method:            onPage(frameDetached),
	cdppage.FrameNavigated.Method:           onPage(frameNavigated),
	cdppage.NavigatedWithinDocument.Method:  onPage(navigatedWithin),
	cdppage.FrameRequestedNavigation.Method: onPage(navigationRequested),
	cdppage.FrameStartedNavigating.Method:   onPage(navigationStarted),
	cdppage.FrameStoppedLoading.Method:      onPage(stoppedLoading),
	cdppage.DomContentEventFired.Method:     onPage(domContent),
	cdppage.LoadEventFired.Method:           onPage(loadFired),
	cdppage.JavascriptDialogOpening.Method:  onPage(dialogOpening),
	cdppage.JavascriptDialogClosed.Method:   onPage(dialogClosed),
	cdppage.FileChooserOpened.Method:        onPage(chooserOpened),
	cdppage.WindowOpen.Method:               onPage(windowOpened),
	"Page.downloadWillBegin":                onPage(downloadBegins),
	runtime.ExecutionContextsCleared.Method: onPage(contextsCleared),
	debugger.ScriptParsed.Method:            onPage(func(p *Page, s *cdp.Session, e *eventScript) { p.operations.pauses.scriptParsed(s, e) }),
	debugger.Paused.Method:                  onPage(debuggerPaused),
	overlay.InspectNodeRequested.Method: onPage(func(p *Page, s *cdp.Session, e *overlay.EventInspectNodeRequested) {
		p.picker.NodePicked(s, e.BackendNodeID)
	}),
	overlay.InspectModeCanceled.Method:   onPage(func(p *Page, s *cdp.Session, _ *struct{}) { p.picker.NodePicked(s, 0) }),
	"Inspector.targetCrashed":            onPage(crashed),
	"Inspector.targetReloadedAfterCrash": onPage(revived),
}

func frameAttached(p *Page, s *cdp.Session, e *cdppage.EventFrameAttached) {
	p.frames.Attached(s, e.FrameID, e.ParentFrameID)
}

func frameDetached(p *Page, s *cdp.Session, e *cdppage.EventFrameDetached) {
	// "swap": the frame continues in another process, whose session reports it.
	if e.Reason != cdppage.FrameDetachedReasonSwap {
		p.frames.Detached(e.FrameID)
	}
}

func frameNavigated(p *Page, s *cdp.Session, e *cdppage.EventFrameNavigated) {
	restored := e.Type == cdppage.NavigationTypeBackForwardCacheRestore
	p.frames.Committed(s, e.Frame, restored)
	if e.Frame.ID != p.frames.Main() {
		return
	}
	p.state.committed(restored)
	p.input.Choosers.Discard()
	p.history.DocumentCommitted()
	p.guard.Committed(e.Frame.URL)
}

func navigatedWithin(p *Page, _ *cdp.Session, e *cdppage.EventNavigatedWithinDocument) {
	p.frames.Moved(e.FrameID, e.URL)
	if e.FrameID == p.frames.Main() {
		p.state.moves++
	}
}

func navigationRequested(p *Page, _ *cdp.Session, e *cdppage.EventFrameRequestedNavigation) {
	if opensOutside(e.URL) {
		p.state.outside = e.URL
		p.state.outsides++
	}
	if e.FrameID == p.frames.Main() && e.Disposition == cdppage.ClientNavigationDispositionCurrentTab {
		p.state.leaveFor(e.URL)
	}
}

func navigationStarted(p *Page, _ *cdp.Session, e *cdppage.EventFrameStartedNavigating) {
	if e.FrameID != p.frames.Main() {
		return
	}
	switch e.NavigationType {
	case cdppage.FrameStartedNavigatingNavigationTypeSameDocument, cdppage.FrameStartedNavigatingNavigationTypeHistorySameDocument:
		p.state.pending = ""
	default:
		p.state.leaveFor(e.URL)
	}
}

func stoppedLoading(p *Page, _ *cdp.Session, e *cdppage.EventFrameStoppedLoading) {
	if e.FrameID == p.frames.Main() {
		p.state.pending, p.state.loaded, p.state.parsed = "", true, true
	}
}

// The load events have no frame id: those of the page's own session belong to the main
// frame.
func domContent(p *Page, s *cdp.Session, _ *cdppage.EventDomContentEventFired) {
	if s == p.session {
		p.state.parsed = true
	}
}

func loadFired(p *Page, s *cdp.Session, _ *cdppage.EventLoadEventFired) {
	if s == p.session {
		p.state.parsed, p.state.loaded = true, true
	}
}

func dialogOpening(p *Page, _ *cdp.Session, e *cdppage.EventJavascriptDialogOpening) {
	p.state.dialog = &Dialog{Type: string(e.Type), Message: e.Message, Default: e.DefaultPrompt, URL: e.URL}
	p.operations.interrupt(&DialogError{*p.state.dialog})
}

func dialogClosed(p *Page, _ *cdp.Session, e *cdppage.EventJavascriptDialogClosed) {
	if p.state.dialog != nil && p.state.dialog.Type == "beforeunload" && !e.Result {
		p.state.pending = "" // the page stays
	}
	p.state.dialog = nil
}

func chooserOpened(p *Page, s *cdp.Session, e *cdppage.EventFileChooserOpened) {
	p.input.Choosers.Opened(s, e)
}

func windowOpened(p *Page, _ *cdp.Session, _ *cdppage.EventWindowOpen) { p.state.windows++ }

func downloadBegins(p *Page, _ *cdp.Session, e *browser.EventDownloadWillBegin) {
	p.state.download, p.state.pending = e.URL, ""
}

func contextsCleared(p *Page, s *cdp.Session, _ *runtime.EventExecutionContextsCleared) {
	p.frames.WorldsCleared(s)
}

func crashed(p *Page, s *cdp.Session, _ *struct{}) {
	if s == p.session {
		p.state.ended, p.state.dialog, p.state.lost = ErrCrashed, nil, true
		p.operations.interrupt(ErrCrashed)
	}
}

func revived(p *Page, s *cdp.Session, _ *struct{}) {
	if s == p.session && p.state.ended == ErrCrashed {
		p.state.ended = nil
	}
	p.state.lost = p.state.lost && s != p.session
}

func debuggerPaused(p *Page, s *cdp.Session, e *eventPaused) {
	p.operations.interrupt(&PausedError{p.operations.pauses.position(s, e)})
}
