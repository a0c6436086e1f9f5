package page

import (
	"cmp"
	"context"
	"errors"
	"slices"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/snapshot"
)

// changeSince returns what has changed.
func (p *Page) changeSince(before mark) Change {
	main, _ := p.frames.Frame(p.frames.Main())
	url := main.URL
	committed := p.life.After(before.sequence, lifecycle.Committed)
	departure, _ := p.life.Departure()
	c := Change{
		URL:       url,
		Document:  main.Generation,
		Navigated: committed || p.life.After(before.sequence, lifecycle.Moved) && url != before.url,
		Dialog:    p.Dialog(),
	}
	if p.isLoading(before) {
		c.Loading = cmp.Or(departure.URL, url)
	}
	if p.life.After(before.sequence, lifecycle.Download) {
		c.Download = p.life.Last(lifecycle.Download).URL
	}
	if outside := p.life.OfDocument(lifecycle.OpenedOutside); outside.Seq > before.sequence {
		c.ExternalURL = outside.URL
	}
	if p.life.After(before.sequence, lifecycle.Refused) {
		c.Refused = p.life.Last(lifecycle.Refused).Err
	}
	if p.life.After(before.sequence, lifecycle.ChooserOpened) {
		c.Chooser = p.input.Choosers.Open()
	}
	c.Picker = p.life.After(before.sequence, lifecycle.PickerRefused)
	if p.life.Last(lifecycle.WindowOpened).Count > before.windows {
		c.Tabs = p.browser.targets.openedSince(before.pages, p.ID())
	}
	return c
}

// result is changeSince, with the effects of the action and the title of a new document.
func (p *Page) result(ctx context.Context, before mark) Change {
	c := p.changeSince(before)
	c.Effects = p.effects(c, before)
	if c.Dialog == nil {
		p.locateEffects(ctx, &c.Effects)
	}
	if !c.Navigated || c.Dialog != nil || p.guard.Shows(c.URL) != nil {
		return c
	}
	return p.entitled(ctx, c, before)
}

// entitled is a change with the title of the document that it has the URL of: another one may replace
// that while the title is read.
func (p *Page) entitled(ctx context.Context, c Change, before mark) Change {
	for range maxReplaced {
		c.Title = p.titleNow(ctx, before)
		main, _ := p.frames.Frame(p.frames.Main())
		if main.Generation == c.Document {
			break
		}
		now := p.changeSince(before)
		c.URL, c.Document, c.Navigated, c.Loading = now.URL, now.Document, now.Navigated, now.Loading
	}
	return c
}

// maxReplaced bounds how often that happens.
const maxReplaced = 3

// effects are those of an action that changed this. No later result has them.
func (p *Page) effects(c Change, before mark) Effects {
	last := p.history.Console.Last()
	later := func(m history.Message) bool { return m.Seq > last }
	logged := slices.DeleteFunc(p.history.Console.After(before.console, "warning"), later)
	network := p.history.Network
	e := Effects{Late: p.lateEffects(before, last)}
	e.Waiting = slices.DeleteFunc(network.PendingSince(before.requests),
		func(r history.Request) bool { return r.Status != 0 })
	p.mu.Lock()
	latest := network.LastFailure()
	e.Failed = network.Failures(max(p.reported.failure, before.failures), latest)
	p.reported.failure = latest
	for _, opened := range slices.Concat(c.Tabs.Open, c.Tabs.Closed) {
		p.reported.pages = max(p.reported.pages, opened.Index+1)
	}
	p.mu.Unlock()
	e.Console = slices.DeleteFunc(logged, func(m history.Message) bool { // the browser's own words for the same
		failed := func(r history.Request) bool { return r.URL == m.Position.URL }
		return m.Source == "network" && slices.ContainsFunc(e.Failed, failed)
	})
	return e
}

// locateEffects finds the places of effects in the workspace, in the time that there is for that.
func (p *Page) locateEffects(ctx context.Context, e *Effects) {
	ctx, cancel := context.WithTimeout(ctx, briefTimeout)
	defer cancel()
	for _, messages := range [][]history.Message{e.Console, e.Late.Errors} {
		p.sources.LocateMessages(ctx, messages)
	}
	for _, requests := range [][]history.Request{e.Failed, e.Waiting, e.Late.Failed} {
		p.sources.LocateRequests(ctx, requests)
	}
}

// LateEffects is what happened in the page since the last result of an action, once. Nothing is late
// before the first.
func (p *Page) LateEffects(ctx context.Context) LateEffects {
	p.mu.Lock()
	first := p.reported.console == 0
	p.mu.Unlock()
	if first {
		return LateEffects{}
	}
	p.browser.flush()
	now := p.mark()
	e := Effects{Late: p.lateEffects(now, now.console)}
	if p.Dialog() == nil {
		p.locateEffects(ctx, &e)
	}
	return e.Late
}

// Look is what the page shows that the agent has not seen. It is for the answer to an action
// that is done: what cannot be read now is left out.
func (p *Page) Look(ctx context.Context) snapshot.Changes {
	if p.life.IsBlocked() {
		return snapshot.Changes{}
	}
	changes, err := p.reader.Look(ctx)
	if err != nil {
		p.browser.log.Debug("page: what an action changed is not known", "page", p.ID(), "err", err)
		changes.Unknown = errors.As(err, new(*TimeoutError)) || errors.As(err, new(*HungError))
	}
	return changes
}

// maxLate bounds how many late errors a result contains.
const maxLate = 5

// lateEffects is what happened in the page between the last result and this mark. A result that has messages
// up to the last one follows, if there was one before.
func (p *Page) lateEffects(at mark, last int64) (lateEffects LateEffects) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.reported
	p.reported.console, p.reported.pages = last+1, at.pages
	if before.console == 0 {
		return lateEffects
	}
	lateEffects.Tabs = p.browser.targets.openedSince(before.pages, p.ID())
	notLate := func(opened Info) bool { return opened.Index >= at.pages }
	lateEffects.Tabs.Open = slices.DeleteFunc(lateEffects.Tabs.Open, notLate)
	lateEffects.Tabs.Closed = slices.DeleteFunc(lateEffects.Tabs.Closed, notLate)
	unreported := max(before.console-1, p.history.Console.Listed())
	found := slices.DeleteFunc(p.history.Console.After(unreported, "error"), func(m history.Message) bool {
		// the browser's own words of a request
		return m.Seq > at.console || m.Source != "exception" && m.Source != "console"
	})
	lateEffects.Errors = found[max(0, len(found)-maxLate):]
	lateEffects.Failed = p.history.Network.Failures(before.failure, at.failures)
	p.reported.failure = max(before.failure, at.failures)
	return lateEffects
}

// titleNow returns the title after a navigation. It is empty where the title cannot be
// read; the rest of the result is still correct.
func (p *Page) titleNow(ctx context.Context, before mark) string {
	if p.life.After(before.sequence, lifecycle.Committed) || p.Dialog() != nil {
		// A new document itself responds only once it is drawn. The browser receives the title
		// on the same channel as the load event, so its history has the title already.
		h, err := protocol.Call(ctx, p.session, cdppage.GetNavigationHistory, protocol.Empty{})
		if err != nil || h.CurrentIndex < 0 || h.CurrentIndex >= int64(len(h.Entries)) {
			return ""
		}
		return h.Entries[h.CurrentIndex].Title
	}
	// The browser's history keeps a separate title for each step within the document.
	var title string
	_ = p.frames.Evaluate(ctx, "document[$.title]", &title)
	return title
}

// arrival is result, but always with the page's title: the caller wants to know where
// the page is now. It works after the deadline and while a dialog is open.
func (p *Page) arrival(ctx context.Context, before mark) Change {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), briefTimeout)
		defer cancel()
	}
	c := p.result(ctx, before)
	if !c.Navigated || c.Dialog != nil {
		c = p.entitled(ctx, c, before)
	}
	return c
}
