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
	c.Console = o.history.Console.After(max(before.console, o.over), "warning")
	c.Refused = o.guard.Refusal(before.refusals)
	if chooser, opened := o.input.Choosers.Open(); opened != before.choosers {
		c.Chooser = chooser
	}
	windows := o.windows - before.windows
	o.mu.Unlock()
	if windows > 0 {
		c.NewPages = o.targets.openedSince(before.seq, o.id())
	}
	return c
}

// result is since, with the title of a new document.
func (o *observer) result(ctx context.Context, before mark) Change {
	c := o.since(before)
	if len(c.Console) > 0 && c.Dialog == nil { // wait for the tasks to know which action they belong to
		o.awaitTasks(ctx)
		c = o.since(before)
	}
	c.Earlier = o.uncaught(before)
	c.Failed, c.Waiting = o.failures(before), o.history.Network.Begun(before.requests)
	c.Console = slices.DeleteFunc(c.Console, func(m history.Message) bool { // the browser's own words for the same
		return m.Source == "network" && slices.ContainsFunc(c.Failed, func(r history.Request) bool { return r.URL == m.URL })
	})
	if len(c.Console)+len(c.Earlier) > 0 && c.Dialog == nil {
		ctx, cancel := context.WithTimeout(ctx, locateTimeout)
		c.Console, c.Earlier = o.sources.Locate(ctx, c.Console), o.sources.Locate(ctx, c.Earlier)
		cancel()
	}
	if !c.Navigated || c.Dialog != nil || o.guard.Shows(c.URL) != nil {
		return c
	}
	c.Title = o.titleNow(ctx, before)
	return c
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

// maxEarlier bounds how many errors from before an action its result contains.
const maxEarlier = 5

// uncaught lists the last uncaught errors between the previous action, if any, and
// this one. It omits errors that an earlier result has reported.
func (o *observer) uncaught(before mark) []history.Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reported = o.history.Console.Last() + 1
	if before.reported == 0 {
		return nil
	}
	known := max(before.reported-1, o.history.Console.Listed())
	found := slices.DeleteFunc(o.history.Console.After(known, "error"), func(m history.Message) bool {
		return m.Seq > max(before.console, o.over) || m.Source != "exception"
	})
	return found[max(0, len(found)-maxEarlier):]
}

// failures lists the requests that have failed since the last result, or since the first
// action began.
func (o *observer) failures(before mark) []history.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	after := o.failed
	if before.reported == 0 {
		after = before.failures
	}
	failed, last := o.history.Network.Failures(after)
	o.failed = last
	return failed
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
	_ = o.frames.Evaluate(ctx, "document.title", &title)
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
