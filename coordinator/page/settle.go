package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/sources"
)

const (
	// loadTimeout bounds the wait for a navigation that an action has started.
	loadTimeout = 3 * time.Second
	// requestTimeout bounds the wait for requests that the scripts of an action have made.
	requestTimeout = 500 * time.Millisecond
	// noticeTimeout bounds the wait for the event that a navigation was a download.
	noticeTimeout = 300 * time.Millisecond
	// responseLag bounds the wait for the events of responses that a script has awaited: they
	// may come after the script's value.
	responseLag = 50 * time.Millisecond
	// locateTimeout bounds the time that mapping positions adds to an action.
	locateTimeout = 500 * time.Millisecond
	// windowTimeout bounds the wait for a window that an action has opened.
	windowTimeout = time.Second
	// renderTimeout bounds how long a parsed document may take to load completely.
	renderTimeout = 5 * time.Second
)

// observer observes what an action changes in a page.
type observer struct {
	*connection
	*state
	id      string // the page's CDP target id
	session *cdp.Session
	frames  *frame.Tree
	input   *input.Input
	history *history.History
	guard   *guard.Guard
	sources *sources.Sources

	// state.mu guards the fields that follow.
	reported int64 // the console's last message in a result plus one; 0: there was no result
	failed   int64 // number of the last failure in a result
	opened   int   // number of the last page that had opened before a result
}

// mark is the state of the page when an action began.
type mark struct {
	began                   time.Time
	console                 int64
	seq                     int
	commits, moves, windows int
	choosers, refusals      int
	outsides                int
	inputs                  int64
	requests, failures      int64 // numbers of the last request, and of the last that failed
	url                     string
}

// markNow must be called without state.mu.
func (o *observer) markNow() mark {
	seq := o.targets.last()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.download = ""
	_, choosers := o.input.Choosers.Open()
	return mark{
		began: time.Now(), requests: o.history.Network.Last(), failures: o.history.Network.LastFailure(),
		inputs:  o.input.Sent(),
		console: o.history.Console.Last(), seq: seq, commits: o.commits, moves: o.moves, windows: o.windows, outsides: o.outsides, choosers: choosers, refusals: o.guard.Refusals(),
		url: o.frames.URL(),
	}
}

// settle waits for what an action has started. It waits for the page's scripts first:
// one round trip to the renderer, which runs them in order. It then waits for the
// navigation and the windows that the action has started, if any.
func (o *observer) settle(ctx context.Context, before mark) error {
	return o.settleAfter(ctx, before, func(ctx context.Context) error {
		return o.session.Call(ctx, "Runtime.evaluate", map[string]any{"expression": "0", "silent": true}, nil)
	})
}

// settleAfter is settle with another round trip to the renderer.
func (o *observer) settleAfter(ctx context.Context, before mark, ask func(ctx context.Context) error) error {
	err := o.unlessLeaving(ctx, ask)
	leaving := errors.Is(err, input.ErrLeaving)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if ended := translate(err); errors.Is(ended, ErrBrowserGone) || errors.Is(ended, ErrPageClosed) || errors.Is(ended, ErrCrashed) {
		return ended
	}
	// Any other refusal means that the document is being replaced; the code below handles it.
	o.flush()
	if err := o.settleLoad(ctx, before); err != nil {
		return err
	}
	if leaving {
		if err := o.settleDownload(ctx, before); err != nil {
			return err
		}
	}
	return o.settleWindows(ctx, before)
}

// settleRequests is settle, and also waits for the requests that the action's scripts have
// made, until the page has handled the responses, and for the animations of both.
func (o *observer) settleRequests(ctx context.Context, before mark) error {
	end := time.Now().Add(requestTimeout)
	for {
		var animated bool
		err := o.settleAfter(ctx, before, func(ctx context.Context) error {
			return o.frames.Evaluate(ctx, fmt.Sprintf("library.animated(%d)", time.Since(before.began).Milliseconds()), &animated)
		})
		if err != nil {
			return err
		}
		open := func() bool { return len(o.history.Network.Begun(before.requests)) > 0 }
		left := func() bool { return o.pending != "" || o.commits != before.commits }
		wait := time.Until(end)
		if wait <= 0 || !open() {
			if !animated && o.documents() == before.commits {
				return nil
			}
			return o.settleAnimations(ctx, before)
		}
		if err := o.awaitFor(ctx, wait, func() bool { return left() || !open() }); err != nil {
			return err
		}
		// When it is not met, Effects.Waiting reports it.
		err = o.unlessLeaving(ctx, func(ctx context.Context) error { return o.frames.Evaluate(ctx, "library.handled()", nil) })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return o.settle(ctx, before) // the document is being replaced
		}
	}
}

// settleAnimations waits for the animations that show or hide a part of the page.
func (o *observer) settleAnimations(ctx context.Context, before mark) error {
	if o.isLeaving() {
		return nil
	}
	script := fmt.Sprintf("library.animated(%d, true)", time.Since(before.began).Milliseconds())
	err := o.unlessLeaving(ctx, func(ctx context.Context) error { return o.frames.Evaluate(ctx, script, nil) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return o.settle(ctx, before) // the document is being replaced
	}
	return nil
}

// settleScript is settle, but it does not wait for a busy page: the value is known.
func (o *observer) settleScript(ctx context.Context, before mark) error {
	bounded, cancel := context.WithTimeoutCause(ctx, slowCall, errLimit)
	defer cancel()
	err := o.settle(bounded, before)
	if errors.Is(err, errLimit) {
		return o.settleLoad(ctx, before)
	}
	if err != nil {
		return err
	}
	return o.awaitFor(ctx, responseLag, func() bool { return len(o.history.Network.Begun(before.requests)) == 0 })
}

// settleDownload waits for the event that a navigation without a document was a
// download. That event comes after the one for the end of the navigation.
func (o *observer) settleDownload(ctx context.Context, before mark) error {
	// When it is not met, the navigation was cancelled, or the server responded without a document.
	return o.awaitFor(ctx, noticeTimeout, func() bool {
		return o.download != "" || o.pending != "" || o.commits != before.commits || o.moves != before.moves || o.guard.Refusals() > before.refusals
	})
}

// awaitDownload waits for the event of a download that a link has started, or of the
// navigation if the server does not serve a download.
func (o *observer) awaitDownload(ctx context.Context) {
	_ = o.awaitFor(ctx, windowTimeout, func() bool { return o.download != "" || o.pending != "" })
}

// unlessLeaving runs a request to the page. It cancels the request with
// input.ErrLeaving when the page starts to navigate to another document: the browser
// holds back commands until the server of that document has responded.
func (o *observer) unlessLeaving(ctx context.Context, ask func(ctx context.Context) error) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	responded := make(chan error, 1)
	go func() { responded <- ask(ctx) }()
	for {
		o.mu.Lock()
		leaves, changed := o.pending != "", o.changed.Next()
		o.mu.Unlock()
		if leaves {
			giveUp(input.ErrLeaving)
			<-responded
			return input.ErrLeaving
		}
		select {
		case err := <-responded:
			return err
		case <-changed:
		}
	}
}

func (o *observer) settleLoad(ctx context.Context, before mark) error {
	// When it is not met, Change.Loading reports it.
	return o.awaitFor(ctx, loadTimeout, func() bool {
		return o.pending == "" && (o.commits == before.commits || o.loaded)
	})
}

func (o *observer) settleWindows(ctx context.Context, before mark) error {
	o.mu.Lock()
	expected := o.windows - before.windows
	o.mu.Unlock()
	if expected == 0 {
		return nil
	}
	onTheWay := func(page Info) bool { return page.URL == "" } // its first response has not arrived
	// When it is not met, the window was blocked.
	return o.awaitFor(ctx, windowTimeout, func() bool {
		opened, gone := o.targets.openedSince(before.seq, o.id)
		return len(opened)+len(gone) >= expected && !slices.ContainsFunc(opened, onTheWay)
	})
}

// awaitDocument waits until a new document is parsed, and then at most renderTimeout
// for its load. It also ends when the navigation stays within the document or is refused.
func (o *observer) awaitDocument(ctx context.Context, before mark) error {
	refused := func() bool { return o.guard.Refusals() > before.refusals }
	err := o.await(ctx, func() bool {
		return o.commits != before.commits && o.parsed || o.moves != before.moves && o.pending == "" || refused()
	})
	if err != nil {
		return err
	}
	o.mu.Lock()
	within := o.commits == before.commits
	o.mu.Unlock()
	if within {
		return o.settle(ctx, before)
	}
	// When it is not met, Change.Loading reports it.
	return o.awaitFor(ctx, renderTimeout, func() bool { return o.loaded || refused() })
}

// awaitMove waits until the page has moved within its document, which the browser
// reports after the response, and until the page's script has handled it.
func (o *observer) awaitMove(ctx context.Context, before mark) error {
	err := o.awaitFor(ctx, loadTimeout, func() bool { return o.moves != before.moves || o.commits != before.commits })
	if err != nil {
		return err
	}
	return o.settle(ctx, before)
}
