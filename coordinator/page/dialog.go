package page

import (
	"context"
	"errors"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
)

// HandleDialog accepts or dismisses the open dialog; promptText is what a prompt
// is answered with.
func (p *Page) HandleDialog(ctx context.Context, accept bool, promptText string) (Change, error) {
	const doing = "answering the dialog"
	if p.Dialog() == nil {
		return Change{}, errors.New("there is no dialog to answer")
	}
	before := p.markNow()
	ctx, end, err := p.beginOperation(ctx, doing, p.browser.opts.CallTimeout, &operation{anyDialog: true})
	if err != nil {
		return Change{}, err
	}
	defer end()
	_, err = protocol.Call(ctx, p.session, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{Accept: accept, PromptText: promptText})
	if err != nil {
		return Change{}, p.explain(err, doing)
	}
	p.browser.flush()
	// The page goes on; another dialog may open at once, which is a change too.
	settleCtx, endSettle, err := p.begin(ctx, doing, p.browser.opts.CallTimeout)
	if err == nil {
		err = p.settle(settleCtx, before)
		endSettle()
	}
	var dialog *DialogError
	if err != nil && !errors.As(err, &dialog) {
		return Change{}, p.explain(err, doing)
	}
	return p.answer(ctx, before), nil
}
