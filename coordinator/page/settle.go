package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"browser-coordinator/coordinator/page/lifecycle"
)

// mark is the state of the page when an action began.
type mark struct {
	sequence int64 // position in the log of the page's lifecycle
	start    time.Time
	url      string
	windows  int   // how many the page had requested
	pages    int   // higher than the index of each page that had opened
	inputs   int64 // as input.Input.SentCount
	console  int64 // number of the last message
	requests int64 // number of the last request
	failures int64 // and of the last that failed
}

func (p *Page) mark() mark {
	network := p.history.Network
	return mark{
		sequence: p.life.Seq(), start: time.Now(), url: p.frames.URL(),
		windows: p.life.Last(lifecycle.WindowOpened).Count,
		pages:   p.browser.targets.indexes.after(), inputs: p.input.SentCount(), console: p.history.Console.Last(),
		requests: network.Last(), failures: network.LastFailure(),
	}
}

// settle waits for what an action has started. It waits for the page's scripts first:
// one round trip to the renderer, which runs them in order. It then waits for the
// navigation and the windows that the action has started, if any.
func (p *Page) settle(ctx context.Context, before mark) error {
	return p.settleAfter(ctx, before, func(ctx context.Context) error {
		return p.session.Call(ctx, "Runtime.evaluate", map[string]any{"expression": "0", "silent": true}, nil)
	})
}

// settleAfter is settle with another round trip to the renderer.
func (p *Page) settleAfter(ctx context.Context, before mark, request func(context.Context) error) error {
	err := p.life.UnlessLeaving(ctx, request)
	leaving := errors.Is(err, lifecycle.ErrLeaving)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if ended := translate(err); errors.Is(ended, ErrBrowserGone) || errors.Is(ended, ErrPageClosed) ||
		errors.Is(ended, ErrCrashed) {
		return ended
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

// settleRequests is settle, and also waits for the requests that the action's scripts have
// made, until the page has handled the responses, and for the animations of both.
func (p *Page) settleRequests(ctx context.Context, before mark) error {
	end := time.Now().Add(briefTimeout)
	open := func() bool { return len(p.history.Network.PendingSince(before.requests)) > 0 }
	for {
		var animated bool
		err := p.settleAfter(ctx, before, func(ctx context.Context) error {
			return p.frames.Evaluate(ctx, fmt.Sprintf("library.animated(%d)", time.Since(before.start).Milliseconds()),
				&animated)
		})
		if err != nil {
			return err
		}
		script, settled := "library.handled()", time.Now().After(end) || !open()
		switch {
		case settled && (!animated && !p.life.After(before.sequence, lifecycle.Committed) || p.life.IsLeaving()):
			return nil
		case settled: // but for the animations that show or hide a part of the page
			script = fmt.Sprintf("library.animated(%d, true)", time.Since(before.start).Milliseconds())
		default:
			// When it is not met, Effects.Waiting reports it.
			err = p.life.AwaitFor(ctx, time.Until(end), func() bool {
				return p.life.IsLeaving() || p.life.After(before.sequence, lifecycle.Committed) || !open()
			})
			if err != nil {
				return err
			}
		}
		err = p.life.UnlessLeaving(ctx, func(ctx context.Context) error { return p.frames.Evaluate(ctx, script, nil) })
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return p.settle(ctx, before) // the document is being replaced
		case settled:
			return nil
		}
	}
}

// settleScript is settle, but it does not wait for a busy page: the value is known.
func (p *Page) settleScript(ctx context.Context, before mark) error {
	bounded, cancel := context.WithTimeoutCause(ctx, briefTimeout, errLimit)
	defer cancel()
	err := p.settle(bounded, before)
	if errors.Is(err, errLimit) {
		return p.settleLoad(ctx, before)
	}
	if err != nil {
		return err
	}
	return p.life.AwaitFor(ctx, eventLag, func() bool {
		return len(p.history.Network.PendingSince(before.requests)) == 0
	})
}

// settleDownload waits for the event that a navigation without a document was a
// download. That event comes after the one for the end of the navigation.
func (p *Page) settleDownload(ctx context.Context, before mark) error {
	// When it is not met, the navigation was cancelled, or the server responded without a document.
	return p.life.AwaitFor(ctx, briefTimeout, func() bool {
		return p.life.IsLeaving() ||
			p.life.After(before.sequence, lifecycle.Download, lifecycle.Committed, lifecycle.Moved, lifecycle.Refused)
	})
}

func (p *Page) settleLoad(ctx context.Context, before mark) error {
	// When it is not met, Change.Loading reports it.
	return p.life.AwaitFor(ctx, loadTimeout, func() bool { return !p.isLoading(before) })
}

// isLoading reports whether another document than the one of the mark has not loaded.
func (p *Page) isLoading(before mark) bool {
	return p.life.IsLeaving() || p.life.After(before.sequence, lifecycle.Committed) && !p.life.Reached(lifecycle.Loaded)
}

func (p *Page) settleWindows(ctx context.Context, before mark) error {
	expected := p.life.Last(lifecycle.WindowOpened).Count - before.windows
	if expected == 0 {
		return nil
	}
	unresponded := func(page Info) bool { return page.URL == "" }
	// When it is not met, the window was blocked.
	return p.life.AwaitFor(ctx, respondTimeout, func() bool {
		tabs := p.browser.targets.openedSince(before.pages, p.ID())
		return len(tabs.Open)+len(tabs.Closed) >= expected && !slices.ContainsFunc(tabs.Open, unresponded)
	})
}

// awaitDocument waits until a new document is parsed, and then at most renderTimeout
// for its load. It also ends when the navigation stays within the document or is refused.
func (p *Page) awaitDocument(ctx context.Context, before mark) error {
	refused := func() bool { return p.life.After(before.sequence, lifecycle.Refused) }
	committed := func() bool { return p.life.After(before.sequence, lifecycle.Committed) }
	err := p.life.Await(ctx, func() bool {
		return committed() && p.life.Reached(lifecycle.Parsed) || refused() ||
			p.life.After(before.sequence, lifecycle.Moved) && !p.life.IsLeaving()
	})
	if err != nil {
		return err
	}
	if committed() {
		// When it is not met, Change.Loading reports it.
		err = p.life.AwaitFor(ctx, renderTimeout, func() bool { return p.life.Reached(lifecycle.Loaded) || refused() })
		if err != nil || refused() || !p.life.Reached(lifecycle.Loaded) {
			return err
		}
	}
	return p.settleContent(ctx, before)
}

// settleContent waits for what the scripts of a document that was opened have begun: a router asks for
// the content only then, or goes on to another document. A busy page is not waited for.
func (p *Page) settleContent(ctx context.Context, before mark) error {
	bounded, cancel := context.WithTimeoutCause(ctx, loadTimeout, errLimit)
	defer cancel()
	err := p.settle(bounded, before)
	if err == nil && len(p.history.Network.PendingSince(before.requests)) > 0 {
		err = p.settleRequests(bounded, before)
	}
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

// awaitMove waits until the page has moved within its document, which the browser
// reports after the response, and until the page's script has handled it.
func (p *Page) awaitMove(ctx context.Context, before mark) error {
	err := p.life.AwaitFor(ctx, loadTimeout, func() bool {
		return p.life.After(before.sequence, lifecycle.Moved, lifecycle.Committed)
	})
	if err != nil {
		return err
	}
	return p.settleContent(ctx, before)
}
