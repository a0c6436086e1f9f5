package page

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"browser-coordinator/coordinator/cdp"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/page/frame"
)

// WaitOptions are the conditions to wait for; all given ones must be true at once.
type WaitOptions struct {
	Text       string        // shown in one of the frames, shadow roots included
	Gone       string        // no frame shows it
	URL        string        // part of the main frame's URL
	Expression string        // JavaScript that becomes true; a function is called
	Idle       bool          // loaded, and no request for half a second
	Timeout    time.Duration // 0: 30 s
}

func (o *WaitOptions) String() string {
	var wanted []string
	for _, w := range []struct{ what, value string }{
		{"the text", o.Text}, {"the end of the text", o.Gone}, {"the URL", o.URL}, {"the expression", o.Expression},
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

// WaitFor waits until the page meets the conditions, across navigations.
func (p *Page) WaitFor(ctx context.Context, opts WaitOptions) (Change, error) {
	what := opts.String()
	if what == "" {
		return Change{}, errors.New("nothing to wait for was given")
	}
	setDefault(&opts.Timeout, defaultWait)
	end := time.Now().Add(opts.Timeout)
	return p.act(ctx, "waiting for "+what, opts.Timeout, func(ctx context.Context) error {
		for {
			p.mu.Lock()
			commits, moves := p.commits, p.moves
			p.mu.Unlock()
			if err := p.await(ctx, func() bool { return strings.Contains(p.frames.URL(), opts.URL) }); err != nil {
				return err
			}
			met, err := p.waitInDocument(ctx, opts, time.Until(end))
			if err == nil && met {
				return nil
			}
			if err != nil && !cdp.Refused(err) && !errors.Is(err, frame.ErrGone) {
				return err
			}
			// The document was replaced, or time is up; ctx reports the latter.
			if err := p.await(ctx, func() bool { return p.commits != commits || p.moves != moves }); err != nil {
				return err
			}
		}
	})
}

// waitInDocument waits for the conditions on the document, then for the network. It
// returns false if the document was replaced or its URL changed meanwhile.
func (p *Page) waitInDocument(ctx context.Context, opts WaitOptions, left time.Duration) (bool, error) {
	if opts.Text != "" || opts.Gone != "" {
		if err := p.waitForText(ctx, opts, left); err != nil {
			return false, err
		}
	}
	if opts.Expression != "" {
		if met, err := p.waitForExpression(ctx, opts.Expression, left); !met || err != nil {
			return met, err
		}
	}
	if opts.Idle {
		if err := p.awaitIdle(ctx); err != nil {
			return false, err
		}
	}
	return strings.Contains(p.URL(), opts.URL), nil
}

// waitForExpression runs in the page's main world, which has the expression's names.
func (p *Page) waitForExpression(ctx context.Context, expression string, left time.Duration) (bool, error) {
	expression = strings.TrimRight(strings.TrimSpace(expression), "; \n\t")
	if looksLikeFunction(expression) {
		expression = "(" + expression + "\n)()"
	}
	// The script stops first, so that it can report what the expression threw.
	budget := max(left-left/5, left-time.Second)
	var r runtime.EvaluateResult
	err := p.runScript(ctx, p.session, func(ctx context.Context) (err error) {
		r, err = protocol.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: frame.UntilTrue(expression, budget), AwaitPromise: new(true), ReturnByValue: new(true),
			Timeout: p.scriptTime(),
		})
		return err
	})
	if err != nil {
		return false, err
	}
	value, err := p.scriptResult(ctx, p.session, r.Result, r.ExceptionDetails)
	return string(value) == "true", err
}

// awaitIdle waits until the page has loaded and made no request for idleTime.
func (p *Page) awaitIdle(ctx context.Context) error {
	for {
		var seq int64
		err := p.await(ctx, func() bool {
			seq = p.history.Network.Last()
			return p.unrest() == ""
		})
		if err != nil {
			return p.idleError(err)
		}
		quiet, cancel := context.WithTimeoutCause(ctx, idleTime, errPatience)
		err = p.await(quiet, func() bool { return p.history.Network.Last() != seq || p.pending != "" })
		cancel()
		if errors.Is(err, errPatience) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// unrest describes what keeps the page from being idle; mu is held.
func (p *Page) unrest() string {
	switch open := p.history.Network.Unanswered(); {
	case p.pending != "":
		return "the way to " + p.pending + " is not done"
	case !p.loaded:
		return "the document has not loaded"
	case len(open) == 1:
		return "a request is not done: " + open[0]
	case len(open) > 1:
		return fmt.Sprintf("%d requests are not done, for example %s", len(open), open[0])
	}
	return ""
}

// idleError adds to a timeout what was waited for.
func (p *Page) idleError(err error) error {
	var late *TimeoutError
	if !errors.As(err, &late) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	told := *late
	told.Hint = p.unrest()
	return &told
}
