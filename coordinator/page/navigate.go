package page

import (
	"context"
	"errors"
	"fmt"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/lifecycle"
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
	current, _, _ := strings.Cut(p.URL(), "#")
	destination, _, within := strings.Cut(url, "#")
	return p.travel(ctx, "opening "+url, within && current == destination, func(ctx context.Context) error {
		r, err := protocol.Call(ctx, p.session, cdppage.Navigate, cdppage.NavigateParams{URL: url})
		if err != nil {
			return err
		}
		switch {
		case r.IsDownload:
			return errDownload
		case r.ErrorText != "":
			return &NavigationError{URL: url, Code: r.ErrorText, Proxy: p.browser.proxy(url)}
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
	return p.travel(ctx, "reloading", false, func(ctx context.Context) error {
		_, err := protocol.Call(ctx, p.session, cdppage.Reload, cdppage.ReloadParams{})
		return err
	})
}

// Traverse goes one step back in the page's history, or forward.
func (p *Page) Traverse(ctx context.Context, back bool) (Change, error) {
	return p.travel(ctx, "going "+direction(back), true, func(ctx context.Context) error {
		to, err := p.neighbour(ctx, back)
		if errors.As(err, new(*cdp.Error)) {
			return p.step(ctx, back)
		}
		if err != nil {
			return err
		}
		if err := p.guard.Shows(to.URL); err != nil {
			return err
		}
		params := cdppage.NavigateToHistoryEntryParams{EntryID: to.ID}
		_, err = protocol.Call(ctx, p.session, cdppage.NavigateToHistoryEntry, params)
		return err
	})
}

// step is Traverse in a tab that the user has handed over, whose history the browser does not list: as the page
// itself could. Only a navigation that begins shows that there is a page to go to.
func (p *Page) step(ctx context.Context, back bool) error {
	before := p.mark().sequence
	if err := p.frames.Evaluate(ctx, "history."+direction(back)+"()", nil); err != nil {
		return err
	}
	moves := func() bool {
		return p.life.IsLeaving() || p.life.After(before, lifecycle.Committed) || p.life.After(before, lifecycle.Moved)
	}
	err := p.life.AwaitFor(ctx, respondTimeout, moves)
	if err == nil && !moves() {
		err = fmt.Errorf("there is no page to go %s to", direction(back))
	}
	return err
}

// Ahead is the address to which Traverse would go.
func (p *Page) Ahead(ctx context.Context, back bool) (address string, err error) {
	err = p.run(ctx, "reading the history", respondTimeout, func(ctx context.Context) error {
		to, err := p.neighbour(ctx, back)
		if err == nil {
			address = to.URL
		}
		return err
	})
	return address, err
}

// neighbour is the next entry of the page's history in a direction.
func (p *Page) neighbour(ctx context.Context, back bool) (*cdppage.NavigationEntry, error) {
	h, err := protocol.Call(ctx, p.session, cdppage.GetNavigationHistory, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	to := h.CurrentIndex + 1
	if back {
		to = h.CurrentIndex - 1
	}
	if to < 0 || to >= int64(len(h.Entries)) {
		return nil, fmt.Errorf("there is no page to go %s to", direction(back))
	}
	return h.Entries[to], nil
}

func direction(back bool) string {
	if back {
		return "back"
	}
	return "forward"
}

// isRefused reports whether the navigation itself was refused. The document that it has
// opened may have begun another one, which was.
func (p *Page) isRefused(c Change) bool {
	return c.Refused != nil && (!c.Navigated || p.guard.Shows(c.URL) != nil)
}

// travel starts a navigation and waits until its document has loaded, or until the
// navigation stays within the document. A document that is committed but does not
// finish loading in time is a result, not an error. stays: it may stay within the document, so
// that the agent compares that with what it was before.
func (p *Page) travel(
	ctx context.Context, operation string, stays bool, start func(context.Context) error,
) (Change, error) {
	if err := p.observer.Recording(); err != nil {
		return Change{}, err
	}
	if err := p.endPreview(ctx); err != nil {
		return Change{}, err
	}
	caller := ctx
	ctx, end, err := p.begin(caller, call{operation: operation, timeout: p.browser.opts.NavigateTimeout, leaves: true})
	if err != nil {
		return Change{}, err
	}
	defer end()
	if err := p.free(ctx); err != nil {
		return Change{}, p.explain(err, operation)
	}
	p.browser.flush()
	if stays {
		p.lookBefore(ctx, false)
	}
	before := p.mark()
	defer func() {
		if caller.Err() != nil { // else its document would arrive in the next call
			p.stop(caller)
		}
	}()
	err = start(ctx)
	p.browser.flush()
	if c := p.changeSince(before); p.isRefused(c) {
		return c, c.Refused
	}
	var failed *NavigationError
	switch {
	case errors.Is(err, errDownload):
		return p.downloads(ctx, before)
	case errors.As(err, &failed):
		p.history.Network.Dismiss(func(r history.Request) bool { return r.Seq > before.requests && r.Navigation })
		if failed.Code == "net::ERR_ABORTED" && p.changeSince(before).Download != "" {
			return p.downloads(ctx, before)
		}
		// The browser shows an error page now. The next call must not find it half loaded.
		if failed.Code != "net::ERR_ABORTED" {
			_ = p.settleLoad(ctx, before)
		}
		return p.changeSince(before), failed
	case errors.Is(err, errWithin):
		err = p.awaitMove(ctx, before)
	case err == nil:
		err = p.awaitDocument(ctx, before)
	}
	if err == nil {
		if c := p.changeSince(before); p.isRefused(c) {
			return c, c.Refused
		}
	}
	if errors.As(err, new(*DialogError)) {
		return p.arrival(ctx, before), nil
	}
	var timeout *TimeoutError
	var hung *HungError
	if (errors.As(err, &timeout) || errors.As(err, &hung)) && p.changeSince(before).Navigated {
		return p.arrival(ctx, before), nil
	}
	if timeout != nil { // a copy: the original is the cause of the call's context, which others read
		explained := *timeout
		explained.Hint = "the server may not answer"
		if departure, leaves := p.life.Departure(); leaves && p.browser.proxy(departure.URL) != "" {
			explained.Hint = "the server may not answer, or " + p.browser.proxy(departure.URL)
		}
		err = &explained
	}
	if err != nil {
		return Change{}, p.explain(err, operation)
	}
	return p.arrival(ctx, before), nil
}

// stop ends a navigation whose caller has given up, and awaits its end.
func (p *Page) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), briefTimeout)
	defer cancel()
	if err := p.session.Call(ctx, cdppage.CommandStopLoading, nil, nil); err == nil {
		_ = p.life.AwaitFor(ctx, briefTimeout, func() bool { return !p.life.IsLeaving() })
	}
}

// downloads returns the result of a navigation that is a download: the page stays.
func (p *Page) downloads(ctx context.Context, before mark) (Change, error) {
	begun := func() bool { return p.life.After(before.sequence, lifecycle.Download) }
	if err := p.life.AwaitFor(ctx, respondTimeout, begun); err != nil {
		return Change{}, p.explain(err, "waiting for the download")
	}
	p.life.Log(lifecycle.Event{}, lifecycle.Stayed)
	return p.arrival(ctx, before), nil
}

// free stops an endless script of the document that is about to be replaced. It must run
// first: once a navigation has begun, the browser holds back commands until the old
// document is replaced, which an endless script prevents. Nor may the navigation of a new
// tab begin before its process responds, or the session gets none of its events.
func (p *Page) free(ctx context.Context) error {
	if p.life.IsLost() {
		return nil // no renderer can respond
	}
	limit := respondTimeout
	location := p.browser.targets.url(p.ID())
	if p.frames.URL() == "" && (location == "" || location == "about:blank") {
		limit = p.browser.opts.CallTimeout // the process of a new tab is still starting
	}
	busy, err := isBusy(ctx, p.session, limit)
	if busy {
		err = terminate(ctx, p.session)
	}
	return err
}

// revive allows a navigation on a page that has crashed.
func (p *Page) revive() {
	p.browser.flush() // failures that a crash causes may arrive before the crash event
	p.life.Revive()
}
