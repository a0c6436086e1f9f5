package page

import (
	"context"
	"errors"
	"fmt"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
)

// AwaitDialog waits until a dialog is open.
func (p *Page) AwaitDialog(ctx context.Context, limit time.Duration) error {
	ctx, end, err := p.operations.beginOperation(ctx, "waiting for a dialog", limit, &operation{anyDialog: true})
	if err != nil {
		return err
	}
	defer end()
	err = p.state.await(ctx, func() bool { return p.state.dialog != nil })
	if errors.As(err, new(*TimeoutError)) {
		return nil // HandleDialog reports it, and where there is one
	}
	return p.operations.explain(err, "waiting for a dialog")
}

// HandleDialog accepts or dismisses the open dialog; promptText is the text entered into
// a prompt.
func (p *Page) HandleDialog(ctx context.Context, accept bool, promptText string) (Change, error) {
	const doing = "answering the dialog"
	if p.Dialog() == nil {
		if where, _, other := p.operations.elsewhere(); other != nil {
			return Change{}, fmt.Errorf("there is no dialog to answer in this tab; one (%s, %q) is open in the tab %s: select that first", other.Type, other.Message, where)
		}
		return Change{}, errors.New("there is no dialog to answer")
	}
	before := p.observer.markNow()
	ctx, end, err := p.operations.beginOperation(ctx, doing, p.connection.opts.CallTimeout, &operation{anyDialog: true})
	if err != nil {
		return Change{}, err
	}
	defer end()
	_, err = protocol.Call(ctx, p.session, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{Accept: accept, PromptText: promptText})
	if err != nil {
		return Change{}, p.operations.explain(err, doing)
	}
	p.connection.flush()
	// The page continues; another dialog may open at once, which is a change too.
	settleCtx, endSettle, err := p.operations.begin(ctx, doing, p.connection.opts.CallTimeout)
	if err == nil {
		err = p.observer.settleRequests(settleCtx, before)
		endSettle()
	}
	var dialog *DialogError
	if err != nil && !errors.As(err, &dialog) {
		return Change{}, p.operations.explain(err, doing)
	}
	return p.observer.result(ctx, before), nil
}
