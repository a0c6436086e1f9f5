package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
)

// WaitOptions say what to wait for; all that are given must be true at once.
type WaitOptions struct {
	Text    string        // shown in the main document
	Gone    string        // not shown in it any more
	URL     string        // part of the main frame's address
	Timeout time.Duration // 0: 30 s
}

const defaultWait = 30 * time.Second

// WaitFor waits until the page is as asked for, across navigations.
func (p *Page) WaitFor(ctx context.Context, opts WaitOptions) (Change, error) {
	if opts.Text == "" && opts.Gone == "" && opts.URL == "" {
		return Change{}, errors.New("nothing to wait for was given")
	}
	setDefault(&opts.Timeout, defaultWait)
	var wanted []string
	for _, w := range []struct{ what, value string }{{"the text", opts.Text}, {"the end of the text", opts.Gone}, {"the URL", opts.URL}} {
		if w.value != "" {
			wanted = append(wanted, fmt.Sprintf("%s %q", w.what, w.value))
		}
	}
	end := time.Now().Add(opts.Timeout)
	return p.act(ctx, "waiting for "+strings.Join(wanted, " and "), opts.Timeout, func(ctx context.Context) error {
		for {
			p.mu.Lock()
			commits := p.commits
			p.mu.Unlock()
			if err := p.await(ctx, func() bool { return strings.Contains(p.frames[p.mainID()].url, opts.URL) }); err != nil {
				return err
			}
			met, err := p.waitInDocument(ctx, opts, time.Until(end))
			if err == nil && met {
				return nil
			}
			if err != nil && !refused(err) && !errors.Is(err, errFrameGone) {
				return err
			}
			// The document was replaced, or time is up, which ctx tells.
			if err := p.await(ctx, func() bool { return p.commits != commits }); err != nil {
				return err
			}
		}
	})
}

func (p *Page) waitInDocument(ctx context.Context, opts WaitOptions, left time.Duration) (bool, error) {
	if opts.Text == "" && opts.Gone == "" {
		return true, nil
	}
	session, world, err := p.world(ctx, p.mainID())
	if err != nil {
		return false, err
	}
	args, err := json.Marshal(map[string]any{"text": opts.Text, "gone": opts.Gone, "budget": left.Milliseconds()})
	if err != nil {
		return false, err
	}
	r, err := protocol.Call(ctx, session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: libraryCall("wait"), ExecutionContextID: world,
		Arguments: []*runtime.CallArgument{{Value: args}}, AwaitPromise: new(true), ReturnByValue: new(true),
	})
	if err != nil {
		return false, err
	}
	return r.Result != nil && string(r.Result.Value) == "true", nil
}
