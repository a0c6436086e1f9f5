package page

import (
	"context"
	"errors"
	"slices"
	"time"

	"browser-coordinator/coordinator/page/history"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/page/input"
)

const (
	// loadPatience bounds the wait for a navigation that an action has started.
	loadPatience = 3 * time.Second
	// tasksPatience bounds how long watchTasks observes the tasks of an action.
	tasksPatience = time.Second
	// noticeTimeout bounds the wait for the event that a navigation was a download.
	noticeTimeout = 300 * time.Millisecond
	// windowPatience bounds the wait for a window that an action has opened.
	windowPatience = time.Second
)

// mark is the state of the page when an action began.
type mark struct {
	console, seq            int64
	commits, moves, windows int
	choosers, refusals      int
	inputs                  int64
	told                    int64 // as Page.told
	url                     string
}

// markNow must be called without Page.mu.
func (p *Page) markNow() mark {
	p.browser.mu.Lock()
	seq := p.browser.seq
	p.browser.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.download = ""
	_, choosers := p.input.Choosers.Open()
	return mark{
		inputs:  p.input.Sent(),
		told:    p.told,
		console: p.history.Console.Last(), seq: seq, commits: p.commits, moves: p.moves, windows: p.windows, choosers: choosers, refusals: p.guard.Refusals(),
		url: p.frames.URL(),
	}
}

// Act runs an action of the page's input, and reports what it changed.
func (p *Page) Act(ctx context.Context, a input.Action) (Change, error) {
	if a.Err != nil {
		return Change{}, a.Err
	}
	p.input.Choosers.Hold(ctx, true)
	defer p.input.Choosers.Hold(ctx, false)
	var out input.Outcome
	change, err := p.act(ctx, a.Doing, a.Waits+p.browser.opts.CallTimeout, func(ctx context.Context) error { return a.Do(ctx, &out) })
	if err == nil {
		p.watchTasks(ctx)
	}
	change.Held, change.Unmet = out.Held, out.Unmet
	return change, err
}

// act runs something that may change the page and returns what changed. A dialog
// that the input opens is such a change, and so is a breakpoint that it reaches: the
// action is done, and the page is blocked. A dialog that opens before any input was
// sent, or between two inputs, is an [InterruptedError].
func (p *Page) act(ctx context.Context, doing string, timeout time.Duration, do func(ctx context.Context) error) (Change, error) {
	return p.actUntil(ctx, doing, timeout, p.settle, do)
}

// actUntil is act with its own settle function.
func (p *Page) actUntil(ctx context.Context, doing string, timeout time.Duration, settle func(context.Context, mark) error, do func(ctx context.Context) error) (Change, error) {
	ctx, end, err := p.begin(ctx, doing, timeout)
	if err != nil {
		return Change{}, err
	}
	defer end()
	p.browser.flush()
	before := p.markNow()
	err = do(ctx)
	if err == nil {
		err = settle(ctx, before)
	}
	var paused *PausedError
	if errors.As(err, &paused) && p.input.Sent() > before.inputs {
		c := p.since(before)
		at := p.locatePause(paused.At)
		c.Paused = &at
		return c, nil
	}
	unsent := p.input.Sent() == before.inputs
	var partial *input.PartialError
	var dialog *DialogError
	switch {
	case errors.As(err, &dialog) && errors.As(err, &partial):
		return Change{}, &InterruptedError{Dialog: dialog.Dialog, Doing: doing, Done: partial.Done}
	case errors.As(err, &dialog) && unsent:
		return Change{}, &InterruptedError{Dialog: dialog.Dialog, Doing: doing}
	case err != nil && dialog == nil:
		err = p.explain(err, doing)
		if unsent {
			err = &unsentError{err}
		}
		return Change{}, err
	}
	return p.answer(ctx, before), nil
}

// oneTask resolves when the page has run its queued tasks once. In one of them the
// page detects a rejected promise without a handler. That may take a frame.
const oneTask = `new Promise(done => {
	const {port1, port2} = new MessageChannel()
	port1.onmessage = () => { port1.close(); done() }
	port2.postMessage(0)
})`

// settle waits for what an action has started. It waits for the page's scripts first:
// one round trip to the renderer, which runs them in order. It then waits for the
// navigation and the windows that the action has started, if any.
func (p *Page) settle(ctx context.Context, before mark) error {
	err := p.unlessLeaving(ctx, func(ctx context.Context) error {
		return p.session.Call(ctx, "Runtime.evaluate", map[string]any{"expression": "0", "silent": true}, nil)
	})
	leaving := errors.Is(err, input.ErrLeaving)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if news := p.browser.translate(err); errors.Is(news, ErrBrowserGone) || errors.Is(news, ErrPageClosed) || errors.Is(news, ErrCrashed) {
		return news
	}
	// Any other refusal means that the document is being replaced; the code below handles it.
	p.browser.flush()
	if err := p.settleLoad(ctx, before); err != nil {
		return err
	}
	if leaving {
		if err := p.settleDownload(ctx, before); err != nil {
			return err
		}
	}
	return p.settleWindows(ctx, before)
}

// watchTasks records when the page has run its tasks after an action. Console messages
// until then belong to that action or to an earlier one, even when the next has begun.
func (p *Page) watchTasks(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tasksPatience)
	tasks, err := p.session.Start(ctx, "Runtime.evaluate", map[string]any{"expression": oneTask, "awaitPromise": true, "silent": true})
	if err != nil {
		cancel()
		return
	}
	over, inputs := make(chan struct{}), p.input.Sent()
	p.mu.Lock()
	p.tasks = over
	p.mu.Unlock()
	p.browser.running.Go(func() {
		defer close(over)
		defer cancel()
		if tasks.Wait(ctx, nil) == nil {
			p.browser.flush()
			p.mu.Lock()
			if p.input.Sent() == inputs { // otherwise it may come from the next action
				p.over = p.history.Console.Last()
			}
			p.mu.Unlock()
		}
	})
}

// awaitTasks waits until the tasks of the previous action are over.
func (p *Page) awaitTasks(ctx context.Context) {
	p.mu.Lock()
	over := p.tasks
	p.mu.Unlock()
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// settleDownload waits for the event that a navigation without a document was a
// download. That event comes after the one for the end of the navigation.
func (p *Page) settleDownload(ctx context.Context, before mark) error {
	bounded, cancel := context.WithTimeoutCause(ctx, noticeTimeout, errPatience)
	defer cancel()
	err := p.await(bounded, func() bool {
		return p.download != "" || p.pending != "" || p.commits != before.commits || p.moves != before.moves || p.guard.Refusals() > before.refusals
	})
	if errors.Is(err, errPatience) {
		return nil // it was cancelled, or the server responded without a document
	}
	return err
}

// awaitDownload waits for the event of a download that a link has started, or of the
// navigation if the server does not serve a download.
func (p *Page) awaitDownload(ctx context.Context) {
	bounded, cancel := context.WithTimeoutCause(ctx, windowPatience, errPatience)
	defer cancel()
	_ = p.await(bounded, func() bool { return p.download != "" || p.pending != "" })
}

// unlessLeaving runs a request to the page. It cancels the request with
// input.ErrLeaving when the page starts to navigate to another document: the browser
// holds back commands until the server of that document has responded.
func (p *Page) unlessLeaving(ctx context.Context, ask func(ctx context.Context) error) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	answered := make(chan error, 1)
	go func() { answered <- ask(ctx) }()
	for {
		p.mu.Lock()
		leaves, changed := p.pending != "", p.changed.Next()
		p.mu.Unlock()
		if leaves {
			giveUp(input.ErrLeaving)
			<-answered
			return input.ErrLeaving
		}
		select {
		case err := <-answered:
			return err
		case <-changed:
		}
	}
}

func (p *Page) settleLoad(ctx context.Context, before mark) error {
	bounded, cancel := context.WithTimeoutCause(ctx, loadPatience, errPatience)
	defer cancel()
	err := p.await(bounded, func() bool {
		if p.pending != "" {
			return false
		}
		return p.commits == before.commits || p.loaded
	})
	if errors.Is(err, errPatience) {
		return nil // Change.Loading reports it
	}
	return err
}

var errPatience = errors.New("waited long enough")

func (p *Page) settleWindows(ctx context.Context, before mark) error {
	p.mu.Lock()
	expected := p.windows - before.windows
	p.mu.Unlock()
	if expected == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeoutCause(ctx, windowPatience, errPatience)
	defer cancel()
	for {
		p.mu.Lock()
		changed := p.changed.Next()
		p.mu.Unlock()
		opened := p.browser.openedSince(before.seq, p.id)
		onTheWay := func(page Info) bool { return page.URL == "" } // its first response has not arrived
		if len(opened) >= expected && !slices.ContainsFunc(opened, onTheWay) {
			return nil
		}
		select {
		case <-changed:
		case <-bounded.Done():
			if err := context.Cause(bounded); !errors.Is(err, errPatience) {
				return err
			}
			return nil // it was blocked
		}
	}
}

// openedSince lists the pages that a page has opened. A link with rel=noopener
// sets no opener, so a page without an opener counts too.
func (b *Browser) openedSince(seq int64, opener target.ID) []Info {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []target.ID
	for id, at := range b.openedAt {
		if info := b.opened[id]; at > seq && (info.OpenerID == opener || info.OpenerID == "") {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y target.ID) int { return int(b.openedAt[x] - b.openedAt[y]) })
	var infos []Info
	for _, id := range ids {
		infos = append(infos, pageInfo(b.opened[id]))
	}
	return infos
}

// since returns what has changed.
func (p *Page) since(before mark) Change {
	p.mu.Lock()
	url := p.frames.URL()
	c := Change{
		URL:       url,
		Navigated: p.commits != before.commits || p.moves != before.moves && url != before.url,
		Loading:   p.pending != "" || p.commits != before.commits && !p.loaded,
		Leaves:    p.pending,
		Dialog:    p.dialog,
		Console:   p.history.Console.After(max(before.console, p.over), "warning"),
		Download:  p.download,
	}
	c.Refused = p.guard.Refusal(before.refusals)
	if chooser, opened := p.input.Choosers.Open(); opened != before.choosers {
		c.Chooser = chooser
	}
	windows := p.windows - before.windows
	p.mu.Unlock()
	if windows > 0 {
		c.NewPages = p.browser.openedSince(before.seq, p.id)
	}
	return c
}

// answer is since, with the title of a new document.
func (p *Page) answer(ctx context.Context, before mark) Change {
	c := p.since(before)
	if len(c.Console) > 0 && c.Dialog == nil { // wait for the tasks to know which action they belong to
		p.awaitTasks(ctx)
		c = p.since(before)
	}
	c.Earlier = p.uncaught(before)
	if len(c.Console)+len(c.Earlier) > 0 && c.Dialog == nil {
		ctx, cancel := context.WithTimeout(ctx, locatePatience)
		c.Console, c.Earlier = p.Locate(ctx, c.Console), p.Locate(ctx, c.Earlier)
		cancel()
	}
	if !c.Navigated || c.Dialog != nil || p.guard.Shows(c.URL) != nil {
		return c
	}
	c.Title = p.titleNow(ctx, before)
	return c
}

// maxEarlier bounds how many errors from before an action its result contains.
const maxEarlier = 5

// uncaught lists the last uncaught errors between the previous action, if any, and
// this one. It omits errors that an earlier result has reported.
func (p *Page) uncaught(before mark) []history.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = p.history.Console.Last() + 1
	if before.told == 0 {
		return nil
	}
	found := slices.DeleteFunc(p.history.Console.After(before.told-1, "error"), func(m history.Message) bool {
		return m.Seq > max(before.console, p.over) || m.Source != "exception"
	})
	return found[max(0, len(found)-maxEarlier):]
}

// titleNow returns the title after a navigation. It is empty where the title cannot be
// read; the rest of the result is still correct.
func (p *Page) titleNow(ctx context.Context, before mark) string {
	p.mu.Lock()
	another, silent := p.commits != before.commits, p.dialog != nil
	p.mu.Unlock()
	if another || silent {
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
	_ = p.frames.Evaluate(ctx, "document.title", &title)
	return title
}
