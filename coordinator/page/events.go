package page

import (
	"context"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/overlay"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/webmcp"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/observe"
	"browser-coordinator/coordinator/page/remote"
)

// pageHandler decodes an event of a page's session and calls f, which changes the frames and the
// capabilities before it logs the event: who waits for the event then finds them changed.
func pageHandler[E any](f func(p *Page, s *cdp.Session, e *E)) func(*Page, *cdp.Session, cdp.Event) error {
	return func(p *Page, s *cdp.Session, raw cdp.Event) error {
		e := new(E)
		if err := raw.Decode(e); err != nil {
			return err
		}
		f(p, s, e)
		p.life.Wake()
		return nil
	}
}

// observed decodes an event that matters only while the user's steps are recorded.
func observed[E any](f func(o *observe.Observer, s *cdp.Session, e *E)) func(*Page, *cdp.Session, cdp.Event) error {
	return func(p *Page, s *cdp.Session, raw cdp.Event) error {
		e := new(E)
		if p.observer.Recording() == nil {
			return nil
		}
		if err := raw.Decode(e); err != nil {
			return err
		}
		f(p.observer, s, e)
		return nil
	}
}

var pageEvents = map[string]func(*Page, *cdp.Session, cdp.Event) error{
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
	cdppage.FrameResized.Method:             pageHandler((*Page).resized),
	"Page.downloadWillBegin":                pageHandler((*Page).downloadBegins),
	"Page.documentOpened":                   pageHandler((*Page).documentOpened),
	runtime.ExecutionContextsCleared.Method: pageHandler((*Page).contextsCleared),
	runtime.ExecutionContextCreated.Method:  observed((*observe.Observer).WorldCreated),
	runtime.BindingCalled.Method:            observed((*observe.Observer).Reported),
	debugger.ScriptParsed.Method:            pageHandler((*Page).scriptParsed),
	debugger.Paused.Method:                  pageHandler((*Page).debuggerPaused),
	overlay.InspectNodeRequested.Method:     pageHandler((*Page).nodePicked),
	overlay.InspectModeCanceled.Method:      pageHandler((*Page).pickCancelled),
	webmcp.ToolsAdded.Method:                pageHandler((*Page).toolsAdded),
	webmcp.ToolsRemoved.Method:              pageHandler((*Page).toolsRemoved),
	webmcp.ToolInvoked.Method:               pageHandler((*Page).toolInvoked),
	webmcp.ToolResponded.Method:             pageHandler((*Page).toolResponded),
	"Inspector.targetCrashed":               pageHandler((*Page).crashed),
	"Inspector.targetReloadedAfterCrash":    pageHandler((*Page).reloaded),
}

func (p *Page) frameAttached(s *cdp.Session, e *cdppage.EventFrameAttached) {
	p.frames.Attached(s, e.FrameID, e.ParentFrameID)
}

func (p *Page) frameDetached(_ *cdp.Session, e *cdppage.EventFrameDetached) {
	// "swap": the frame continues in another process, whose session reports it.
	if e.Reason != cdppage.FrameDetachedReasonSwap {
		p.frames.Detached(e.FrameID)
	}
}

func (p *Page) frameNavigated(s *cdp.Session, e *cdppage.EventFrameNavigated) {
	restored := e.Type == cdppage.NavigationTypeBackForwardCacheRestore
	p.frames.Committed(s, e.Frame, restored)
	p.tools.Committed(context.Background(), s, e.Frame.ID, restored)
	if e.Frame.ID != p.frames.Main() {
		return
	}
	p.input.Choosers.Discard()
	p.pointer.Committed()
	p.history.DocumentCommitted(e.Frame.LoaderID)
	p.guard.Committed(e.Frame.URL)
	p.life.Commit(restored)
	p.observer.Committed(e.Frame.URL + e.Frame.URLFragment)
}

func (p *Page) navigatedWithin(_ *cdp.Session, e *cdppage.EventNavigatedWithinDocument) {
	p.frames.SetURL(e.FrameID, e.URL)
	if e.FrameID == p.frames.Main() {
		p.life.Log(lifecycle.Event{}, lifecycle.Moved)
	}
}

func (p *Page) navigationRequested(_ *cdp.Session, e *cdppage.EventFrameRequestedNavigation) {
	if opensOutside(e.URL) {
		p.life.Log(lifecycle.Event{URL: e.URL}, lifecycle.OpenedOutside)
	}
	switch e.Disposition {
	case cdppage.ClientNavigationDispositionCurrentTab:
		if e.FrameID == p.frames.Main() {
			p.life.Log(lifecycle.Event{URL: e.URL}, lifecycle.Leaving)
		}
	case cdppage.ClientNavigationDispositionNewTab, cdppage.ClientNavigationDispositionNewWindow:
		p.browser.targets.follows(p.id, e.URL)
		p.life.Log(lifecycle.Event{}, lifecycle.WindowOpened)
	}
}

func (p *Page) navigationStarted(_ *cdp.Session, e *cdppage.EventFrameStartedNavigating) {
	if e.FrameID != p.frames.Main() {
		return
	}
	kind := lifecycle.Leaving
	switch e.NavigationType {
	case cdppage.FrameStartedNavigatingNavigationTypeSameDocument,
		cdppage.FrameStartedNavigatingNavigationTypeHistorySameDocument:
		kind = lifecycle.Stayed
	}
	p.life.Log(lifecycle.Event{URL: e.URL}, kind)
}

func (p *Page) stoppedLoading(_ *cdp.Session, e *cdppage.EventFrameStoppedLoading) {
	if e.FrameID == p.frames.Main() {
		p.life.Log(lifecycle.Event{}, lifecycle.Stayed, lifecycle.Parsed, lifecycle.Loaded)
	}
}

// The load events have no frame id: those of the page's own session belong to the main
// frame.
func (p *Page) domContent(s *cdp.Session, _ *cdppage.EventDomContentEventFired) {
	if s == p.session {
		p.life.Log(lifecycle.Event{}, lifecycle.Parsed)
	}
}

func (p *Page) loadFired(s *cdp.Session, _ *cdppage.EventLoadEventFired) {
	if s == p.session {
		p.life.Log(lifecycle.Event{}, lifecycle.Parsed, lifecycle.Loaded)
	}
}

func (p *Page) dialogOpening(_ *cdp.Session, e *cdppage.EventJavascriptDialogOpening) {
	opened := Dialog{Type: string(e.Type), Message: e.Message, Default: e.DefaultPrompt}
	p.life.OpenDialog(opened)
	p.observer.DialogOpened(opened)
}

func (p *Page) dialogClosed(_ *cdp.Session, e *cdppage.EventJavascriptDialogClosed) {
	p.observer.DialogClosed(p.life.Dialog(), e.Result, e.UserInput)
	p.life.CloseDialog(e.Result)
}

func (p *Page) chooserOpened(s *cdp.Session, e *cdppage.EventFileChooserOpened) {
	kind := lifecycle.ChooserOpened
	if !p.input.Choosers.Opened(s, e) { // no input of the page asks
		kind = lifecycle.PickerRefused
	}
	p.life.Log(lifecycle.Event{}, kind)
}

func (p *Page) windowOpened(_ *cdp.Session, _ *cdppage.EventWindowOpen) {
	p.life.Log(lifecycle.Event{}, lifecycle.WindowOpened)
}

func (p *Page) resized(*cdp.Session, *struct{}) {
	p.emulation.Resized()
	p.screen.Resized()
}

func (p *Page) downloadBegins(_ *cdp.Session, e *browser.EventDownloadWillBegin) {
	p.life.Log(lifecycle.Event{URL: e.URL}, lifecycle.Download, lifecycle.Stayed)
}

func (p *Page) documentOpened(s *cdp.Session, _ *struct{}) { p.observer.DocumentOpened(s) }

func (p *Page) contextsCleared(s *cdp.Session, _ *runtime.EventExecutionContextsCleared) {
	p.frames.WorldsCleared(s)
	p.observer.WorldsCleared(s)
}

func (p *Page) nodePicked(s *cdp.Session, e *overlay.EventInspectNodeRequested) {
	p.picker.NodePicked(s, e.BackendNodeID)
}

func (p *Page) pickCancelled(s *cdp.Session, _ *struct{}) { p.picker.NodePicked(s, 0) }

func (p *Page) toolsAdded(s *cdp.Session, e *webmcp.EventToolsAdded) { p.tools.Added(s, e) }

func (p *Page) toolsRemoved(_ *cdp.Session, e *webmcp.EventToolsRemoved) { p.tools.Removed(e) }

func (p *Page) toolInvoked(_ *cdp.Session, e *webmcp.EventToolInvoked) { p.tools.Invoked(e) }

func (p *Page) toolResponded(_ *cdp.Session, e *webmcp.EventToolResponded) { p.tools.Responded(e) }

func (p *Page) crashed(s *cdp.Session, _ *struct{}) {
	if s == p.session {
		p.life.Log(lifecycle.Event{}, lifecycle.Crashed)
		p.life.End(ErrCrashed)
	}
}

func (p *Page) reloaded(s *cdp.Session, _ *struct{}) {
	if s == p.session {
		p.life.Log(lifecycle.Event{}, lifecycle.Revived)
		p.life.Revive()
	}
}

// maxScriptURLs bounds how many script URLs of a page are stored.
const maxScriptURLs = 10_000

// eventScript holds the needed fields of Debugger.scriptParsed.
type eventScript struct {
	ScriptID string `json:"scriptId"`
	URL      string `json:"url"`
}

// scriptKey identifies a script: ids are unique only per renderer.
type scriptKey struct {
	session *cdp.Session
	id      string
}

// scriptParsed stores the URL of a script: after probePause, the browser reports all scripts before
// it reports the pause.
func (p *Page) scriptParsed(s *cdp.Session, e *eventScript) {
	if e.URL == "" {
		return
	}
	if len(p.scriptURLs) >= maxScriptURLs {
		clear(p.scriptURLs)
	}
	p.scriptURLs[scriptKey{s, e.ScriptID}] = e.URL
}

// eventPaused holds the needed fields of Debugger.paused. Its frames identify their
// scripts by id only: Chromium leaves their url empty.
type eventPaused struct {
	CallFrames []struct {
		FunctionName string `json:"functionName"`
		Location     struct {
			ScriptID     string `json:"scriptId"`
			LineNumber   int64  `json:"lineNumber"`
			ColumnNumber int64  `json:"columnNumber"`
		} `json:"location"`
	} `json:"callFrames"`
}

func (p *Page) debuggerPaused(s *cdp.Session, e *eventPaused) {
	var pause Paused
	if len(e.CallFrames) > 0 {
		f := e.CallFrames[0]
		url := p.scriptURLs[scriptKey{s, f.Location.ScriptID}]
		pause.Function, pause.Location = f.FunctionName, remote.NewPosition(url, f.Location.LineNumber,
			f.Location.ColumnNumber)
	}
	p.life.Interrupt(&PausedError{pause})
}
