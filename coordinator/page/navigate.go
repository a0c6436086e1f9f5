package page

import (
	"browser-coordinator/coordinator/page/address"
	"context"
	"errors"
	"fmt"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
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
	p.revive()
	return p.travel(ctx, "opening "+url, func(ctx context.Context) error {
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
	p.revive()
	return p.travel(ctx, "reloading", func(ctx context.Context) error {
		_, err := protocol.Call(ctx, p.session, cdppage.Reload, cdppage.ReloadParams{})
		return err
	})
}

// Back goes one step back in the page's history.
func (p *Page) Back(ctx context.Context) (Change, error) { return p.traverse(ctx, -1, "back") }

// Forward goes one step forward in the page's history.
func (p *Page) Forward(ctx context.Context) (Change, error) { return p.traverse(ctx, +1, "forward") }

func (p *Page) traverse(ctx context.Context, step int64, name string) (Change, error) {
	return p.travel(ctx, "going "+name, func(ctx context.Context) error {
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

// renderPatience bounds how long a parsed document may take to load completely.
const renderPatience = 5 * time.Second

// travel starts a navigation and waits until its document has loaded, or until the
// navigation stays within the document. A document that is committed but does not
// finish loading in time is a result, not an error.
func (p *Page) travel(ctx context.Context, doing string, start func(context.Context) error) (Change, error) {
	ctx, end, err := p.beginOperation(ctx, doing, p.browser.opts.NavigateTimeout, &operation{leaves: true})
	if err != nil {
		return Change{}, err
	}
	defer end()
	if err := p.free(ctx); err != nil {
		return Change{}, p.explain(err, doing)
	}
	p.browser.flush()
	before := p.markNow()
	err = start(ctx)
	p.browser.flush()
	if refused := p.since(before).Refused; refused != nil {
		return p.since(before), refused
	}
	var failed *NavigationError
	switch {
	case errors.Is(err, errDownload):
		return p.downloads(ctx, before)
	case errors.As(err, &failed):
		if failed.Code == "net::ERR_ABORTED" && p.since(before).Download != "" {
			return p.downloads(ctx, before)
		}
		// The browser shows an error page now. The next call must not find it half loaded.
		if failed.Code != "net::ERR_ABORTED" {
			_ = p.settleLoad(ctx, before)
		}
		return p.since(before), failed
	case errors.Is(err, errWithin):
		err = p.awaitMove(ctx, before)
	case err == nil:
		err = p.awaitDocument(ctx, before)
	}
	if err == nil {
		if refused := p.since(before).Refused; refused != nil {
			return p.since(before), refused
		}
	}
	var dialog *DialogError
	if errors.As(err, &dialog) {
		return p.arrival(ctx, before), nil
	}
	var late *TimeoutError
	var hung *HungError
	if (errors.As(err, &late) || errors.As(err, &hung)) && p.since(before).Navigated {
		return p.arrival(ctx, before), nil
	}
	if late != nil { // a copy: the original is the cause of the call's context, which others read
		told := *late
		told.Hint = "the server may not answer"
		err = &told
	}
	if err != nil {
		return Change{}, p.explain(err, doing)
	}
	return p.arrival(ctx, before), nil
}

// awaitDocument waits until a new document is parsed, and then at most renderPatience
// for its load. It also ends when the navigation stays within the document or is refused.
func (p *Page) awaitDocument(ctx context.Context, before mark) error {
	refused := func() bool { return p.guard.Refusals() > before.refusals }
	err := p.await(ctx, func() bool {
		return p.commits != before.commits && p.parsed || p.moves != before.moves && p.pending == "" || refused()
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	within := p.commits == before.commits
	p.mu.Unlock()
	if within {
		return p.settle(ctx, before)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, renderPatience, errPatience)
	defer cancel()
	err = p.await(bounded, func() bool { return p.loaded || refused() })
	if errors.Is(err, errPatience) {
		return nil // Change.Loading reports it
	}
	return err
}

// awaitMove waits until the page has moved within its document, which the browser
// reports after the response, and until the page's script has handled it.
func (p *Page) awaitMove(ctx context.Context, before mark) error {
	bounded, cancel := context.WithTimeoutCause(ctx, loadPatience, errPatience)
	defer cancel()
	err := p.await(bounded, func() bool { return p.moves != before.moves || p.commits != before.commits })
	if err != nil && !errors.Is(err, errPatience) {
		return err
	}
	return p.settle(ctx, before)
}

// downloads returns the result of a navigation that is a download: the page stays.
func (p *Page) downloads(ctx context.Context, before mark) (Change, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, windowPatience, errPatience)
	defer cancel()
	err := p.await(bounded, func() bool { return p.download != "" })
	if err != nil && !errors.Is(err, errPatience) {
		return Change{}, p.explain(err, "waiting for the download")
	}
	p.mu.Lock()
	p.pending = ""
	p.mu.Unlock()
	return p.arrival(ctx, before), nil
}

// arrival is answer, but always with the page's title: the caller wants to know where
// the page is now. It works after the deadline and while a dialog is open.
func (p *Page) arrival(ctx context.Context, before mark) Change {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), locatePatience)
		defer cancel()
	}
	c := p.answer(ctx, before)
	if !c.Navigated || c.Dialog != nil {
		c.Title = p.titleNow(ctx, before)
	}
	return c
}

// hangPatience bounds how long a page may take to respond to a trivial evaluation before
// a navigation stops its script.
const hangPatience = time.Second

// free stops an endless script of the document that is about to be replaced. It must run
// first: once a navigation has begun, the browser holds back commands until the old
// document is replaced, which an endless script prevents.
func (p *Page) free(ctx context.Context) error {
	p.mu.Lock()
	crashed := p.lost
	p.mu.Unlock()
	if crashed {
		return nil // no renderer can respond
	}
	busy, err := isBusy(ctx, p.session, hangPatience)
	if busy {
		err = terminate(ctx, p.session)
	}
	return err
}

// revive allows a navigation on a page that has crashed.
func (p *Page) revive() {
	p.browser.flush() // failures that a crash causes may arrive before the crash event
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended == ErrCrashed {
		p.ended = nil
	}
}
