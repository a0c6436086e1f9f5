package tools

import (
	"context"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/tools/agent"
)

type highlightIn struct {
	elementIn
	Style string `json:"style,omitempty" is:"unlisted"`
}

var _ = define(Tool{
	Name: "browser_highlight", Title: "Highlight", Description: "Highlight an element for the user to see",
	Set: "devtools", Effect: Shows,
	Returns: "the element, and whether it is in view",
	Notes: "A tab has one highlight. The page does not notice it, and the browser hides it while the mouse moves. " +
		"It ends with `browser_hide_highlight`, `pick_element`, the document, or the session. Playwright MCP's " +
		"`style` has no effect.\n\n" +
		"On a dense screen a screenshot has it in its place only with the `scale` `device`, and with an emulated " +
		"density only with `css`.",
	Example: `{"target": "button \"Order\""}`,
}, calls[highlightIn]{
	Aims: func(in highlightIn) []input.Aim { return in.field() },
	Do:   onPage(highlight),
})

type hideIn struct {
	Target string `json:"target,omitempty" is:"unlisted"`
	inPage
}

var _ = define(Tool{
	Name: "browser_hide_highlight", Title: "Hide highlight", Description: "End browser_highlight",
	Set: "devtools", Effect: Shows,
	Example: `{}`,
}, calls[hideIn]{Do: onPage(hideHighlight)})

func highlight(ctx context.Context, c *agent.Call, p *page.Page, in highlightIn) error {
	element, err := p.Highlighter().Show(ctx, in.Target)
	if err != nil {
		return err
	}
	c.Out.Quotef("Highlighted %s.", element.Identity)
	if element.OffScreen {
		c.Out.Addf("It is outside of the viewport: the user sees it after scrolling there.")
	}
	return nil
}

func hideHighlight(ctx context.Context, c *agent.Call, p *page.Page, _ hideIn) error {
	hidden, err := p.Highlighter().Hide(ctx)
	switch {
	case err != nil:
		return err
	case hidden:
		c.Out.Addf("Removed the highlight.")
	default:
		c.Out.Addf("Nothing is highlighted in this tab.")
	}
	return nil
}
