package page

import (
	"context"
	"errors"
	"fmt"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/lifecycle"
)

// AwaitDialog waits until a dialog is open.
func (p *Page) AwaitDialog(ctx context.Context, limit time.Duration) error {
	ctx, end, err := p.begin(ctx, call{operation: "waiting for a dialog", timeout: limit, overDialog: true})
	if err != nil {
		return err
	}
	defer end()
	err = p.life.Await(ctx, func() bool { return p.Dialog() != nil })
	if errors.As(err, new(*TimeoutError)) {
		return nil // HandleDialog reports it, and where there is one
	}
	return p.explain(err, "waiting for a dialog")
}

// HandleDialog accepts or dismisses the open dialog; promptText is the text entered into
// a prompt.
func (p *Page) HandleDialog(ctx context.Context, accept bool, promptText string) (Change, error) {
	const doing = "answering the dialog"
	if err := p.observer.Recording(); err != nil {
		return Change{}, err
	}
	dialog := p.Dialog()
	if dialog == nil {
		if place, _, other := p.browser.dialogElsewhere(p); other != nil {
			const elsewhere = "there is no dialog to answer in this tab; one (%s, %q) is open in the tab %s: select " +
				"that first"
			return Change{}, fmt.Errorf(elsewhere, other.Type, other.Message, place)
		}
		return Change{}, errors.New("there is no dialog to answer")
	}
	if dialog.Type == lifecycle.PrintPreview && accept {
		return Change{}, errors.New("an agent cannot print: dismiss the print preview, or ask the user to print there")
	}
	before := p.mark()
	ctx, end, err := p.begin(ctx, call{operation: doing, timeout: p.browser.opts.CallTimeout, overDialog: true})
	if err != nil {
		return Change{}, err
	}
	defer end()
	if dialog.Type == lifecycle.PrintPreview {
		err = p.endPreview(ctx)
	} else {
		params := cdppage.HandleJavaScriptDialogParams{Accept: accept, PromptText: promptText}
		_, err = protocol.Call(ctx, p.session, cdppage.HandleJavaScriptDialog, params)
	}
	if cdp.Refused(err) {
		_ = p.life.AwaitFor(ctx, respondTimeout, func() bool { return p.Dialog() != dialog })
		return Change{}, fmt.Errorf("the user, or another client of this browser, has answered the %s dialog (%q) before "+
			"you. Look at the page before you go on", dialog.Type, dialog.Message)
	}
	if err != nil {
		return Change{}, p.explain(err, doing)
	}
	p.browser.flush()
	// The page continues; another dialog may open at once, which is a change too.
	settleCtx, endSettle, err := p.begin(ctx, call{operation: doing, timeout: p.browser.opts.CallTimeout})
	if err == nil {
		err = p.settleRequests(settleCtx, before)
		endSettle()
	}
	if err != nil && !errors.As(err, new(*DialogError)) {
		return Change{}, p.explain(err, doing)
	}
	return p.result(ctx, before), nil
}
