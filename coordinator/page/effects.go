package page

import (
	"context"
	"slices"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/snapshot"
)

// since returns what has changed.
func (o *observer) since(before mark) Change {
	o.mu.Lock()
	url := o.frames.URL()
	c := Change{
		URL:       url,
		Navigated: o.commits != before.commits || o.moves != before.moves && url != before.url,
		Loading:   o.pending != "" || o.commits != before.commits && !o.loaded,
		Leaves:    o.pending,
		Dialog:    o.dialog,
		Download:  o.download,
	}
	if o.outsides != before.outsides {
		c.Outside = o.outside
	}
	c.Refused = o.guard.Refusal(before.refusals)
	if chooser, opened := o.input.Choosers.Open(); opened != before.choosers {
		c.Chooser = chooser
	}
	windows := o.windows - before.windows
	o.mu.Unlock()
	if windows > 0 {
		c.NewPages, c.GonePages = o.targets.openedSince(before.seq, o.id)
	}
	return c
}

// result is since, with the effects of the action and the title of a new document.
func (o *observer) result(ctx context.Context, before mark) Change {
	c := o.since(before)
	logged, last := o.logged(before)
	c.Effects = o.effects(c, before, logged, last)
	if c.Dialog == nil {
		c.Console, c.Late.Errors = o.located(ctx, c.Console), o.located(ctx, c.Late.Errors)
	}
	if !c.Navigated || c.Dialog != nil || o.guard.Shows(c.URL) != nil {
		return c
	}
	c.Title = o.titleNow(ctx, before)
	return c
}

// logged lists the errors and warnings since an action began, and the number of the last
// message that it considered.
func (o *observer) logged(before mark) (messages []history.Message, last int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last = o.history.Console.Last()
	messages = slices.DeleteFunc(o.history.Console.After(before.console, "warning"), func(m history.Message) bool { return m.Seq > last })
	return messages, last
}

// effects are those of an action that changed this and logged these messages. No later
// result has them.
func (o *observer) effects(c Change, before mark, logged []history.Message, last int64) Effects {
	network := o.history.Network
	e := Effects{Late: o.late(before, last)}
	e.Waiting = slices.DeleteFunc(network.Begun(before.requests), func(r history.Request) bool { return r.Status != 0 })
	o.mu.Lock()
	until := network.LastFailure()
	e.Failed = network.Failures(max(o.failed, before.failures), until)
	o.failed = until
	for _, p := range slices.Concat(c.NewPages, c.GonePages) {
		o.opened = max(o.opened, p.Index+1)
	}
	o.mu.Unlock()
	e.Console = slices.DeleteFunc(logged, func(m history.Message) bool { // the browser's own words for the same
		return m.Source == "network" && slices.ContainsFunc(e.Failed, func(r history.Request) bool { return r.URL == m.URL })
	})
	return e
}

// located maps the places of messages to the workspace, in the time that there is for that.
func (o *observer) located(ctx context.Context, messages []history.Message) []history.Message {
	if len(messages) == 0 {
		return messages
	}
	ctx, cancel := context.WithTimeout(ctx, locateTimeout)
	defer cancel()
	return o.sources.Locate(ctx, messages)
}

// Late is what came of the page since the last result of an action, once. Nothing is late
// before the first.
func (p *Page) Late(ctx context.Context) Late {
	o := p.observer
	o.mu.Lock()
	acted := o.reported != 0
	o.mu.Unlock()
	if !acted {
		return Late{}
	}
	o.flush()
	last, failure := o.history.Console.Last(), o.history.Network.LastFailure()
	late := o.late(mark{console: last, failures: failure, seq: o.targets.last()}, last)
	if p.Dialog() == nil {
		late.Errors = o.located(ctx, late.Errors)
	}
	return late
}

// Look is what the page shows that the agent has not seen. It is for the answer to an action
// that is done: what cannot be read now is left out.
func (p *Page) Look(ctx context.Context) snapshot.Changes {
	if p.state.isBlocked() {
		return snapshot.Changes{}
	}
	shown, err := p.reader.Look(ctx)
	if err != nil {
		p.connection.log.Debug("page: what an action changed is not known", "page", p.ID(), "err", err)
	}
	return shown
}

// maxLate bounds how many late errors a result contains.
const maxLate = 5

// late is what came of the page between the last result and this mark. A result that has messages
// up to the last one follows, if there was one before.
func (o *observer) late(at mark, last int64) (late Late) {
	o.mu.Lock()
	defer o.mu.Unlock()
	first, known, opened := o.reported == 0, max(o.reported-1, o.history.Console.Listed()), o.opened
	o.reported, o.opened = last+1, at.seq
	if first {
		return late
	}
	late.NewPages, late.GonePages = o.targets.openedSince(opened, o.id)
	notLate := func(p Info) bool { return p.OpenerID != o.id || p.Index >= at.seq }
	late.NewPages, late.GonePages = slices.DeleteFunc(late.NewPages, notLate), slices.DeleteFunc(late.GonePages, notLate)
	found := slices.DeleteFunc(o.history.Console.After(known, "error"), func(m history.Message) bool {
		return m.Seq > at.console || m.Source != "exception" && m.Source != "console" // the browser's own words of a request
	})
	late.Errors = found[max(0, len(found)-maxLate):]
	late.Failed = o.history.Network.Failures(o.failed, at.failures)
	o.failed = max(o.failed, at.failures)
	return late
}

// titleNow returns the title after a navigation. It is empty where the title cannot be
// read; the rest of the result is still correct.
func (o *observer) titleNow(ctx context.Context, before mark) string {
	o.mu.Lock()
	another, silent := o.commits != before.commits, o.dialog != nil
	o.mu.Unlock()
	if another || silent {
		// A new document itself responds only once it is drawn. The browser receives the title
		// on the same channel as the load event, so its history has the title already.
		h, err := protocol.Call(ctx, o.session, cdppage.GetNavigationHistory, protocol.Empty{})
		if err != nil || h.CurrentIndex < 0 || h.CurrentIndex >= int64(len(h.Entries)) {
			return ""
		}
		return h.Entries[h.CurrentIndex].Title
	}
	// The browser's history keeps a separate title for each step within the document.
	var title string
	_ = o.frames.Evaluate(ctx, "document[$.title]", &title)
	return title
}

// arrival is result, but always with the page's title: the caller wants to know where
// the page is now. It works after the deadline and while a dialog is open.
func (o *observer) arrival(ctx context.Context, before mark) Change {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), locateTimeout)
		defer cancel()
	}
	c := o.result(ctx, before)
	if !c.Navigated || c.Dialog != nil {
		c.Title = o.titleNow(ctx, before)
	}
	return c
}
