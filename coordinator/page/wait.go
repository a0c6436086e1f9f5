package page

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

// WaitOptions are the conditions to wait for; all given ones must be true at once.
type WaitOptions struct {
	// Text is shown in one of the frames, shadow roots included, or was shown by a live region since
	// the agent's last answer.
	Text       string
	Gone       string        // no frame shows it
	New        bool          // of Text: an occurrence that was not there when the wait began
	Target     string        // is visible, and shows the text
	URL        string        // part of the main frame's URL, or a glob
	Expression string        // JavaScript that becomes true; a function is called
	Idle       bool          // loaded, and no request for half a second
	Place      string        // as in Bounds, for the expression
	Timeout    time.Duration // 0: 30 s
}

func (o *WaitOptions) String() string {
	var want []string
	description := "the text"
	if o.New {
		description = "another occurrence of the text"
	}
	for _, w := range []struct{ name, value string }{
		{"the element", o.Target}, {description, o.Text}, {"the end of the text", o.Gone},
		{"the URL", o.URL}, {"the expression", o.Expression},
	} {
		if w.value != "" {
			want = append(want, fmt.Sprintf("%s %q", w.name, w.value))
		}
	}
	if o.Idle {
		want = append(want, "an idle network")
	}
	return strings.Join(want, " and ")
}

// waiter waits for conditions on a page.
type waiter struct {
	page *Page
	opts WaitOptions
	end  time.Time
	came bool // the text had come and gone before the wait began

	mu sync.Mutex // guards the fields that follow, and what watchTexts reports
	// delayed reports that the conditions were not true when the wait began, as far as that can be
	// known.
	delayed bool
	// passed reports that the text was shown since the agent's last answer, and is not shown now:
	// before the wait began, or later.
	passed bool
	// counts are how often the documents showed the text before the occurrence to wait for.
	counts map[document]int
}

// run waits until the page meets the conditions, across navigations.
func (w *waiter) run(ctx context.Context) error {
	p := w.page
	fits := func() bool { return fitsURL(p.frames.URL(), w.opts.URL) }
	for {
		before := p.life.Seq()
		if !fits() {
			w.setWaited()
		}
		if err := p.life.Await(ctx, fits); err != nil {
			return err
		}
		ok, err := w.waitInDocument(ctx)
		if err == nil && ok {
			return nil
		}
		if err != nil && !cdp.Refused(err) && !errors.Is(err, frame.ErrGone) {
			return err
		}
		w.setWaited()
		// The document was replaced, or time is up; ctx reports the latter.
		err = p.life.Await(ctx, func() bool { return p.life.After(before, lifecycle.Committed, lifecycle.Moved) })
		if err != nil {
			return err
		}
	}
}

func (w *waiter) setWaited() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delayed = true
}

// rest is the rest of the time.
func (w *waiter) rest() time.Duration { return time.Until(w.end) }

// waitInDocument waits for the conditions on the document, then for the network. It
// returns false if the document was replaced or its URL changed meanwhile.
func (w *waiter) waitInDocument(ctx context.Context) (bool, error) {
	text := w.opts.Text
	if w.opts.Target != "" {
		if ok, err := w.waitForTarget(ctx); !ok || err != nil {
			return ok, err
		}
		text = ""
	}
	if text != "" || w.opts.Gone != "" {
		if err := w.waitForText(ctx, text); err != nil {
			return false, err
		}
	}
	if w.opts.Expression != "" {
		if ok, err := w.waitForExpression(ctx, w.opts.Expression); !ok || err != nil {
			return ok, err
		}
	}
	if w.opts.Idle {
		if err := w.awaitIdle(ctx); err != nil {
			return false, err
		}
	}
	return fitsURL(w.page.frames.URL(), w.opts.URL), nil
}

// fitsURL reports whether a URL has the wanted part. In one with asterisks these stand for
// anything, as in a glob of Playwright.
func fitsURL(url, want string) bool {
	if strings.Contains(url, want) {
		return true
	}
	if !strings.Contains(want, "*") {
		return false
	}
	parts := strings.Split(want, "*")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		_, rest, found := strings.Cut(url, part)
		if !found {
			return false
		}
		url = rest
	}
	return strings.HasSuffix(url, parts[last])
}

// waitForTarget returns false if the element has gone meanwhile, or time was up.
func (w *waiter) waitForTarget(ctx context.Context) (ok bool, err error) {
	for first := true; !ok && w.rest() > 0; first = false {
		deadline := time.Now() // one look, to know whether it is there already
		if !first {
			deadline = w.end
			w.setWaited()
		}
		e, err := w.page.frames.FindInTime(ctx, w.opts.Target, deadline)
		if first && frame.NoMatch(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		argument := map[string]any{"text": w.opts.Text, "budget": time.Until(deadline).Milliseconds()}
		err = e.Call(ctx, "shows", argument, &ok)
		e.Release(ctx)
		if err != nil {
			return false, err
		}
	}
	return ok, nil
}

// waitForExpression runs in the page's main world, which has the expression's names.
func (w *waiter) waitForExpression(ctx context.Context, expression string) (bool, error) {
	expression = strings.TrimRight(strings.TrimSpace(expression), "; \n\t")
	if LooksLikeFunction(expression) {
		expression = "(" + expression + "\n)()"
	}
	if within := frame.OnlyAt(w.opts.Place); within != "" {
		expression = "(() => { " + within + "})(), " + expression
	}
	// The script stops first, so that it can report what the expression threw.
	budget := max(w.rest()*4/5, w.rest()-time.Second)
	p := w.page
	var r runtime.EvaluateResult
	err := p.runScript(ctx, p.session, p.timeLeft(ctx), func(ctx context.Context) (err error) {
		r, err = protocol.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: frame.UntilTrue(expression, budget), AwaitPromise: new(true), ReturnByValue: new(true),
		})
		return err
	})
	if err != nil {
		return false, err
	}
	value, err := p.valueOf(ctx, p.session, r.Result, r.ExceptionDetails)
	return string(value) == "true", err
}

// awaitIdle waits until the page has loaded and made no request for idleTime.
func (w *waiter) awaitIdle(ctx context.Context) error {
	life, network := w.page.life, w.page.history.Network
	for {
		var seq int64
		err := life.Await(ctx, func() bool {
			seq = network.Last()
			return w.unrest() == ""
		})
		if timeout, ok := errors.AsType[*TimeoutError](err); ok {
			explained := *timeout
			explained.Hint = w.unrest()
			return &explained
		}
		if err != nil {
			return err
		}
		busy := false
		err = life.AwaitFor(ctx, idleTime, func() bool {
			busy = network.Last() != seq || life.IsLeaving()
			return busy
		})
		if err != nil || !busy {
			return err
		}
	}
}

// unrest describes what keeps the page from being idle.
func (w *waiter) unrest() string {
	departure, leaving := w.page.life.Departure()
	switch open := w.page.history.Network.Unanswered(); {
	case leaving:
		return "the way to " + departure.URL + " is not done"
	case !w.page.life.Reached(lifecycle.Loaded):
		return "the document has not loaded"
	case len(open) == 1:
		return "a request is not done: " + open[0]
	case len(open) > 1:
		return fmt.Sprintf("%d requests are not done, for example %s", len(open), open[0])
	}
	return ""
}

// document is one document of a frame.
type document struct {
	frame      protocol.FrameID
	session    *cdp.Session
	generation int // as in frame.Frame
}

// texts are flags: which of the awaited texts a document shows.
type texts int

const (
	unknownTexts texts = -1
	showsText    texts = 1
	showsGone    texts = 2 // the text that must disappear
	hasShown     texts = 4 // the text, in a live region, since the agent's last answer, and no longer
)

// textWait is the argument of wait.p.
type textWait struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Gone   string `json:"gone"`
	Known  texts  `json:"known"`
	New    bool   `json:"another"`
	Before int    `json:"before"` // see waiter.counts; -1: not known
	Budget int64  `json:"budget"` // milliseconds
}

// waitForText waits until a text is shown in one of the page's frames and another
// in none of them. It watches each document separately, because frames come and go and
// may belong to other processes.
func (w *waiter) waitForText(ctx context.Context, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() { w.page.frames.RefreshAll(ctx) })
	t := textWait{
		ID: rand.Text(), Text: text, Gone: w.opts.Gone, Known: unknownTexts, New: w.opts.New,
		Budget: w.rest().Milliseconds(),
	}
	states := map[document]texts{} // mu guards it
	first := w.counts == nil
	if first {
		w.counts = map[document]int{}
	}
	for ; ; first = false {
		if err := w.page.frames.Learn(ctx); err != nil {
			return err
		}
		changed := w.page.life.Next()
		now := map[document]bool{}
		for _, f := range w.page.frames.All() {
			now[document{f.ID, f.Session, f.Generation}] = true
		}
		w.mu.Lock()
		maps.DeleteFunc(states, func(d document, _ texts) bool { return !now[d] })
		for d := range now {
			if _, watched := states[d]; !watched {
				states[d] = unknownTexts
				w.delayed = w.delayed || !first
				if _, known := w.counts[d]; first && !known {
					w.counts[d] = -1
				}
				watching.Go(func() { w.watchTexts(ctx, d, t, states) })
			}
		}
		ok, passed := t.complete(states, w.came && text != "")
		w.passed = ok && passed
		w.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// complete reports whether the wait is over, and whether that is because the text has come and gone.
func (t *textWait) complete(states map[document]texts, came bool) (ok, passed bool) {
	text, gone, known := t.Text == "", true, true
	for _, state := range states {
		if state == unknownTexts {
			known = false
			continue
		}
		text = text || state&showsText != 0
		came = came || state&hasShown != 0
		gone = gone && state&showsGone == 0
	}
	passed = came && known && !text
	return (text || passed) && gone && (known || t.Gone == ""), passed
}

// watchTexts keeps what a document shows up to date, until the document has gone. It ends
// the watch in the document when it ends.
func (w *waiter) watchTexts(ctx context.Context, d document, t textWait, states map[document]texts) {
	for first := true; ; first = false {
		w.mu.Lock()
		t.Before = w.counts[d]
		w.mu.Unlock()
		state, before, err := w.lookForTexts(ctx, d, t)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			state = 0 // the document is being replaced
		}
		w.mu.Lock()
		if _, exists := states[d]; exists {
			states[d] = state
			w.delayed = w.delayed || !first
			if err == nil {
				w.counts[d] = before
			}
		}
		w.mu.Unlock()
		w.page.life.Wake()
		if err != nil || state == t.Known {
			return
		}
		t.Known = state
	}
}

// shows reports whether a document still exists.
func (w *waiter) shows(d document) bool {
	f, ok := w.page.frames.Frame(d.frame)
	return ok && d == document{f.ID, f.Session, f.Generation}
}

func (w *waiter) lookForTexts(ctx context.Context, d document, t textWait) (state texts, before int, err error) {
	var found struct {
		Seen   texts
		Before int
	}
	err = w.page.frames.InWorld(ctx, d.frame, func(session *cdp.Session, world runtime.ExecutionContextID) error {
		if !w.shows(d) {
			return frame.ErrGone // another watchTexts watches the next document, with the same wait ID
		}
		err := frame.CallIn(ctx, session, world, frame.Call("wait"), t, &found)
		if ctx.Err() != nil {
			end := runtime.EvaluateParams{
				Expression: fmt.Sprintf("memory.waits?.get(%q)?.()", t.ID), ContextID: world, Silent: new(true),
			}
			_, _ = session.Start(context.WithoutCancel(ctx), runtime.CommandEvaluate, end)
		}
		return err
	})
	return found.Seen, found.Before, err
}
