package page

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/remote"
)

// WaitOptions are the conditions to wait for; all given ones must be true at once.
type WaitOptions struct {
	Text       string        // shown in one of the frames, shadow roots included
	Gone       string        // no frame shows it
	New        bool          // of Text: an occurrence that was not there when the wait began
	Target     string        // is visible, and shows the text
	URL        string        // part of the main frame's URL, or a glob
	Expression string        // JavaScript that becomes true; a function is called
	Idle       bool          // loaded, and no request for half a second
	Timeout    time.Duration // 0: 30 s
}

func (o *WaitOptions) String() string {
	var wanted []string
	what := "the text"
	if o.New {
		what = "another occurrence of the text"
	}
	for _, w := range []struct{ what, value string }{
		{"the element", o.Target}, {what, o.Text}, {"the end of the text", o.Gone}, {"the URL", o.URL}, {"the expression", o.Expression},
	} {
		if w.value != "" {
			wanted = append(wanted, fmt.Sprintf("%s %q", w.what, w.value))
		}
	}
	if o.Idle {
		wanted = append(wanted, "an idle network")
	}
	return strings.Join(wanted, " and ")
}

const (
	defaultWait = 30 * time.Second
	// idleTime without a request is what "network idle" means, as in Playwright
	// and Puppeteer.
	idleTime = 500 * time.Millisecond
)

// waiter waits for conditions on a page.
type waiter struct {
	*state
	frames  *frame.Tree
	scripts *scripts
	network *history.Network
	// later reports that the conditions were not met when the wait began, as far as that can be
	// seen. state.mu guards it, and bases.
	later bool
	// bases are how often the documents show the text that another is awaited of.
	bases map[document]int
}

// waitInDocument waits for the conditions on the document, then for the network. It
// returns false if the document was replaced or its URL changed meanwhile.
func (w *waiter) waitInDocument(ctx context.Context, opts WaitOptions, left time.Duration) (bool, error) {
	if opts.Target != "" {
		if met, err := w.waitForTarget(ctx, opts, left); !met || err != nil {
			return met, err
		}
		opts.Text = ""
	}
	if opts.Text != "" || opts.Gone != "" {
		if err := w.waitForText(ctx, opts, left); err != nil {
			return false, err
		}
	}
	if opts.Expression != "" {
		if met, err := w.waitForExpression(ctx, opts.Expression, left); !met || err != nil {
			return met, err
		}
	}
	if opts.Idle {
		if err := w.awaitIdle(ctx); err != nil {
			return false, err
		}
	}
	return fitsURL(w.frames.URL(), opts.URL), nil
}

// fitsURL reports whether a URL has the wanted part. In one with asterisks these stand for
// anything, as in a glob of Playwright.
func fitsURL(url, wanted string) bool {
	if strings.Contains(url, wanted) {
		return true
	}
	if !strings.Contains(wanted, "*") {
		return false
	}
	parts := strings.Split(wanted, "*")
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

// waitForTarget returns false if the element has no longer been there, or time was up.
func (w *waiter) waitForTarget(ctx context.Context, opts WaitOptions, left time.Duration) (met bool, err error) {
	until := time.Now().Add(left)
	for first := true; !met && time.Now().Before(until); first = false {
		budget := time.Now() // one look, to know whether it is there already
		if !first {
			budget = until
			w.mu.Lock()
			w.later = true
			w.mu.Unlock()
		}
		e, err := w.frames.FindInTime(ctx, opts.Target, budget)
		if first && frame.NoMatch(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		err = e.Call(ctx, "shows", map[string]any{"text": opts.Text, "budget": time.Until(budget).Milliseconds()}, &met)
		e.Release(ctx)
		if err != nil {
			return false, err
		}
	}
	return met, nil
}

// waitForExpression runs in the page's main world, which has the expression's names.
func (w *waiter) waitForExpression(ctx context.Context, expression string, left time.Duration) (bool, error) {
	expression = strings.TrimRight(strings.TrimSpace(expression), "; \n\t")
	if LooksLikeFunction(expression) {
		expression = "(" + expression + "\n)()"
	}
	// The script stops first, so that it can report what the expression threw.
	budget := max(left-left/5, left-time.Second)
	var r runtime.EvaluateResult
	err := w.scripts.run(ctx, w.scripts.session, func(ctx context.Context) (err error) {
		r, err = protocol.Call(ctx, w.scripts.session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: frame.UntilTrue(expression, budget), AwaitPromise: new(true), ReturnByValue: new(true),
		})
		return err
	})
	if err != nil {
		return false, err
	}
	value, err := w.scripts.result(ctx, w.scripts.session, r.Result, r.ExceptionDetails)
	return string(value) == "true", err
}

// awaitIdle waits until the page has loaded and made no request for idleTime.
func (w *waiter) awaitIdle(ctx context.Context) error {
	for {
		var seq int64
		err := w.await(ctx, func() bool {
			seq = w.network.Last()
			return w.unrest() == ""
		})
		if err != nil {
			return w.idleError(err)
		}
		quiet, cancel := context.WithTimeoutCause(ctx, idleTime, errLimit)
		err = w.await(quiet, func() bool { return w.network.Last() != seq || w.pending != "" })
		cancel()
		if errors.Is(err, errLimit) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// unrest describes what keeps the page from being idle; mu is held.
func (w *waiter) unrest() string {
	switch open := w.network.Unanswered(); {
	case w.pending != "":
		return "the way to " + w.pending + " is not done"
	case !w.loaded:
		return "the document has not loaded"
	case len(open) == 1:
		return "a request is not done: " + open[0]
	case len(open) > 1:
		return fmt.Sprintf("%d requests are not done, for example %s", len(open), open[0])
	}
	return ""
}

// idleError adds to a timeout what was waited for.
func (w *waiter) idleError(err error) error {
	var late *TimeoutError
	if !errors.As(err, &late) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	explained := *late
	explained.Hint = w.unrest()
	return &explained
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
)

// textWait is the argument of wait.js.
type textWait struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Gone   string `json:"gone"`
	Known  texts  `json:"known"`
	New    bool   `json:"another"`
	Base   int    `json:"base"`   // see waiter.bases; -1: not known
	Budget int64  `json:"budget"` // milliseconds
}

// waitForText waits until a text is shown in one of the page's frames and another
// in none of them. It watches each document separately, because frames come and go and
// may belong to other processes.
func (w *waiter) waitForText(ctx context.Context, opts WaitOptions, left time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	t := textWait{ID: rand.Text(), Text: opts.Text, Gone: opts.Gone, Known: unknownTexts, New: opts.New, Budget: left.Milliseconds()}
	shown := map[document]texts{} // state.mu guards it
	w.mu.Lock()
	first := w.bases == nil
	if first {
		w.bases = map[document]int{}
	}
	w.mu.Unlock()
	for ; ; first = false {
		if err := w.frames.Learn(ctx); err != nil {
			return err
		}
		changed := w.next()
		now := map[document]bool{}
		for _, f := range w.frames.All() {
			now[document{f.ID, f.Session, f.Generation}] = true
		}
		w.mu.Lock()
		maps.DeleteFunc(shown, func(d document, _ texts) bool { return !now[d] })
		for d := range now {
			if _, watched := shown[d]; !watched {
				shown[d] = unknownTexts
				w.later = w.later || !first
				if _, known := w.bases[d]; first && !known {
					w.bases[d] = -1
				}
				watching.Go(func() { w.watchTexts(ctx, d, t, shown) })
			}
		}
		met := t.met(shown)
		w.mu.Unlock()
		if met {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (t *textWait) met(shown map[document]texts) bool {
	text, gone := t.Text == "", true
	for _, seen := range shown {
		known := seen != unknownTexts
		text = text || known && seen&showsText != 0
		gone = gone && (t.Gone == "" || known && seen&showsGone == 0)
	}
	return text && gone
}

// watchTexts keeps what a document shows up to date, until the document has gone. It ends
// the watch in the document when it ends.
func (w *waiter) watchTexts(ctx context.Context, d document, t textWait, shown map[document]texts) {
	for first := true; ; first = false {
		w.mu.Lock()
		t.Base = w.bases[d]
		w.mu.Unlock()
		seen, base, err := w.lookForTexts(ctx, d, t)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			seen = 0 // the document is being replaced
		}
		w.mu.Lock()
		if _, there := shown[d]; there {
			shown[d] = seen
			w.later = w.later || !first
			if err == nil {
				w.bases[d] = base
			}
			w.changed.Notify()
		}
		w.mu.Unlock()
		if err != nil || seen == t.Known {
			return
		}
		t.Known = seen
	}
}

// shows reports whether a document still exists.
func (w *waiter) shows(d document) bool {
	f, ok := w.frames.Frame(d.frame)
	return ok && d == document{f.ID, f.Session, f.Generation}
}

func (w *waiter) lookForTexts(ctx context.Context, d document, t textWait) (seen texts, base int, err error) {
	args, err := json.Marshal(t)
	if err != nil {
		return 0, 0, err
	}
	var r runtime.CallFunctionOnResult
	err = w.frames.InWorld(ctx, d.frame, func(session *cdp.Session, world runtime.ExecutionContextID) (err error) {
		if !w.shows(d) {
			return frame.ErrGone // another watchTexts watches the next document, with the same wait ID
		}
		r, err = protocol.Call(ctx, session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
			FunctionDeclaration: frame.Call("wait"), ExecutionContextID: world,
			Arguments: []*runtime.CallArgument{{Value: args}}, AwaitPromise: new(true), ReturnByValue: new(true),
		})
		if ctx.Err() != nil {
			end := fmt.Sprintf("memory.waits?.get(%q)?.()", t.ID)
			_, _ = session.Start(context.WithoutCancel(ctx), runtime.CommandEvaluate, runtime.EvaluateParams{Expression: end, ContextID: world, Silent: new(true)})
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	if r.ExceptionDetails != nil {
		return 0, 0, fmt.Errorf("look for a text: %s", remote.Exception(r.ExceptionDetails))
	}
	var found struct {
		Seen texts
		Base int
	}
	err = json.Unmarshal(r.Result.Value, &found)
	return found.Seen, found.Base, err
}
