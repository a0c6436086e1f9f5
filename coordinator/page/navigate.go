package page

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/history"
)

// Navigate opens a URL and waits for its load event. For a URL without a scheme it uses
// http for this machine and https for other hosts.
func (p *Page) Navigate(ctx context.Context, to string) (Change, error) {
	url, err := address.Normalize(to, p.URL())
	if err != nil {
		return Change{}, err
	}
	if err := p.guard.CheckFile(url); err != nil {
		return Change{}, err
	}
	p.observer.revive()
	here, _, _ := strings.Cut(p.URL(), "#")
	there, _, within := strings.Cut(url, "#")
	return p.travel(ctx, "opening "+url, within && here == there, func(ctx context.Context) error {
		r, err := protocol.Call(ctx, p.session, cdppage.Navigate, cdppage.NavigateParams{URL: url})
		if err != nil {
			return err
		}
		switch {
		case r.IsDownload:
			return errDownload
		case r.ErrorText != "":
			return &NavigationError{URL: url, Code: r.ErrorText}
		case r.LoaderID == "":
			return errWithin
		}
		return nil
	})
}

// Errors for navigations that show no new document.
var (
	errWithin   = errors.New("within the document")
	errDownload = errors.New("a download")
)

// Reload loads the document again.
func (p *Page) Reload(ctx context.Context) (Change, error) {
	p.observer.revive()
	return p.travel(ctx, "reloading", false, func(ctx context.Context) error {
		_, err := protocol.Call(ctx, p.session, cdppage.Reload, cdppage.ReloadParams{})
		return err
	})
}

// Traverse goes one step back in the page's history, or forward.
func (p *Page) Traverse(ctx context.Context, back bool) (Change, error) {
	step, name := int64(+1), "forward"
	if back {
		step, name = -1, "back"
	}
	return p.travel(ctx, "going "+name, true, func(ctx context.Context) error {
		h, err := protocol.Call(ctx, p.session, cdppage.GetNavigationHistory, protocol.Empty{})
		if err != nil {
			return err
		}
		to := h.CurrentIndex + step
		if to < 0 || to >= int64(len(h.Entries)) {
			return fmt.Errorf("there is no page to go %s to", name)
		}
		if err := p.guard.Shows(h.Entries[to].URL); err != nil {
			return err
		}
		_, err = protocol.Call(ctx, p.session, cdppage.NavigateToHistoryEntry, cdppage.NavigateToHistoryEntryParams{EntryID: h.Entries[to].ID})
		return err
	})
}

// isRefused reports whether the navigation itself was refused. The document that it has
// opened may have begun another one, which was.
func (o *observer) isRefused(c Change) bool {
	return c.Refused != nil && (!c.Navigated || o.guard.Shows(c.URL) != nil)
}

// travel starts a navigation and waits until its document has loaded, or until the
// navigation stays within the document. A document that is committed but does not
// finish loading in time is a result, not an error. stays: it may stay within the document, so
// that the agent compares that with what it was before.
func (p *Page) travel(ctx context.Context, doing string, stays bool, start func(context.Context) error) (Change, error) {
	ctx, end, err := p.operations.beginOperation(ctx, doing, p.connection.opts.NavigateTimeout, &operation{leaves: true})
	if err != nil {
		return Change{}, err
	}
	defer end()
	if err := p.observer.free(ctx); err != nil {
		return Change{}, p.operations.explain(err, doing)
	}
	p.connection.flush()
	if stays {
		p.lookBefore(ctx, false)
	}
	before := p.observer.markNow()
	err = start(ctx)
	p.connection.flush()
	if c := p.observer.since(before); p.observer.isRefused(c) {
		return c, c.Refused
	}
	var failed *NavigationError
	switch {
	case errors.Is(err, errDownload):
		return p.downloads(ctx, before)
	case errors.As(err, &failed):
		p.history.Network.Told(func(r history.Request) bool { return r.Seq > before.requests && r.Navigation })
		if failed.Code == "net::ERR_ABORTED" && p.observer.since(before).Download != "" {
			return p.downloads(ctx, before)
		}
		// The browser shows an error page now. The next call must not find it half loaded.
		if failed.Code != "net::ERR_ABORTED" {
			_ = p.observer.settleLoad(ctx, before)
		}
		return p.observer.since(before), failed
	case errors.Is(err, errWithin):
		err = p.observer.awaitMove(ctx, before)
	case err == nil:
		err = p.observer.awaitDocument(ctx, before)
	}
	if err == nil {
		if c := p.observer.since(before); p.observer.isRefused(c) {
			return c, c.Refused
		}
	}
	var dialog *DialogError
	if errors.As(err, &dialog) {
		return p.observer.arrival(ctx, before), nil
	}
	var late *TimeoutError
	var hung *HungError
	if (errors.As(err, &late) || errors.As(err, &hung)) && p.observer.since(before).Navigated {
		return p.observer.arrival(ctx, before), nil
	}
	if late != nil { // a copy: the original is the cause of the call's context, which others read
		explained := *late
		explained.Hint = "the server may not answer"
		err = &explained
	}
	if err != nil {
		return Change{}, p.operations.explain(err, doing)
	}
	return p.observer.arrival(ctx, before), nil
}

// downloads returns the result of a navigation that is a download: the page stays.
func (p *Page) downloads(ctx context.Context, before mark) (Change, error) {
	if err := p.state.awaitFor(ctx, windowTimeout, func() bool { return p.state.download != "" }); err != nil {
		return Change{}, p.operations.explain(err, "waiting for the download")
	}
	p.state.mu.Lock()
	p.state.pending = ""
	p.state.mu.Unlock()
	return p.observer.arrival(ctx, before), nil
}

// hangTimeout bounds how long a page may take to respond to a trivial evaluation before
// a navigation stops its script.
const hangTimeout = time.Second

// free stops an endless script of the document that is about to be replaced. It must run
// first: once a navigation has begun, the browser holds back commands until the old
// document is replaced, which an endless script prevents. Nor may the navigation of a new
// tab begin before its process responds, or the session gets none of its events.
func (o *observer) free(ctx context.Context) error {
	o.mu.Lock()
	crashed := o.lost
	o.mu.Unlock()
	if crashed {
		return nil // no renderer can respond
	}
	limit := hangTimeout
	if at := o.targets.url(o.id); o.frames.URL() == "" && (at == "" || at == "about:blank") {
		limit = o.opts.CallTimeout // the process of a new tab is still starting
	}
	busy, err := isBusy(ctx, o.session, limit)
	if busy {
		err = terminate(ctx, o.session)
	}
	return err
}

// revive allows a navigation on a page that has crashed.
func (o *observer) revive() {
	o.flush() // failures that a crash causes may arrive before the crash event
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended == ErrCrashed {
		o.ended = nil
	}
}
