package page

import (
	"context"
	"errors"
	"fmt"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
)

// HandleDialog accepts or dismisses the open dialog; promptText is the text entered into
// a prompt.
func (p *Page) HandleDialog(ctx context.Context, accept bool, promptText string) (Change, error) {
	const doing = "answering the dialog"
	if p.Dialog() == nil {
		if where, other := p.browser.dialogElsewhere(p); other != nil {
			return Change{}, fmt.Errorf("there is no dialog to answer in this tab; one (%s, %q) is open in the tab %s: select that first", other.Type, other.Message, where)
		}
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
	// The page continues; another dialog may open at once, which is a change too.
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

// dialogElsewhere returns a dialog that is open in another page, which blocks all pages
// that share its process, and that page's URL; nil: there is none.
func (b *Browser) dialogElsewhere(than *Page) (where string, open *Dialog) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.sessions {
		if p == than {
			continue
		}
		p.mu.Lock()
		if p.dialog != nil {
			where, open = p.frames.URL(), new(*p.dialog)
		}
		p.mu.Unlock()
	}
	return where, open
}
