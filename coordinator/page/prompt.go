package page

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/lifecycle"
)

// PromptError reports that the browser drops the page's input, because it asks its user
// something.
type PromptError struct{ Prompt string } // see Page.Prompt

func (e *PromptError) Error() string { return "the page has not got the input. " + e.Prompt }

// Prompt describes the browser's own prompt that keeps input from the page; empty: there is
// none. It is asked for after an action that changed this. Without a request that has no
// response, none can be known until the page does not get some input.
func (p *Page) Prompt(ctx context.Context, c Change) (prompt string) {
	main, _ := p.frames.Frame(p.frames.Main())
	if len(c.Waiting) == 0 && !(c.Navigated && main.Unreachable != "") || c.Dialog != nil || c.Chooser != nil ||
		c.Paused != nil || c.Loading != "" || p.life.IsBlocked() {
		return ""
	}
	_ = p.run(ctx, "looking for a prompt of the browser", respondTimeout, func(ctx context.Context) error {
		if !p.input.Receives(ctx) {
			prompt = p.prompt()
		}
		return nil
	})
	return prompt
}

// dropped reports whether the browser has dropped the input of an action that has ended so.
func (p *Page) dropped(ctx context.Context, documents int, err error) (dropped bool) {
	if err != nil && !errors.As(err, new(*input.NotReadyError)) {
		return false
	}
	_ = p.life.UnlessLeaving(ctx, func(ctx context.Context) error {
		dropped = !p.input.Arrived(ctx) && p.life.Documents() == documents && !p.input.Receives(ctx)
		return nil
	})
	return dropped && ctx.Err() == nil && p.life.Documents() == documents && !p.life.IsBlocked()
}

// prompt describes the open prompt as far as it can be known: the browser does not report it.
func (p *Page) prompt() string {
	outside := p.life.OfDocument(lifecycle.OpenedOutside).URL
	main, _ := p.frames.Frame(p.frames.Main())
	open := p.history.Network.Unanswered()
	slices.Sort(open)
	const begin = "A prompt of the browser itself is open, and the page gets no input meanwhile. "
	const login = " The user can enter them there. Otherwise, open the address with them in it, " +
		"http://USER:PASSWORD@host/, or reload or leave the page, which ends the prompt."
	switch {
	case outside != "":
		return begin + "It asks whether to open " + outside + " in another program. The user can answer it. " +
			"Otherwise, open a page of another site, or a tab of your own."
	case main.Unreachable != "":
		return begin + "It asks for a user name and a password for " + main.Unreachable + "." + login
	case len(open) > 0:
		return begin + "It probably asks for a user name and a password: " + open[0] + " has no response yet." + login
	}
	if outside := p.life.Last(lifecycle.OpenedOutside).URL; outside != "" { // of an earlier document
		return begin + "It probably still asks whether to open " + outside + " in another program. The user can answer " +
			"it. Otherwise, open a page of another site, or a tab of your own."
	}
	return begin + "It may ask for a screen to share, for a passkey, or how to print. The user can answer it. " +
		"Otherwise, reload or leave the page, which ends the prompt."
}

// ownSchemes are those of addresses that the browser opens itself.
var ownSchemes = []string{
	"http", "https", "about", "data", "blob", "file", "filesystem", "javascript", "view-source", "ws", "wss",
}

// opensOutside reports whether the browser gives an address to another program.
func opensOutside(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme != "" && !slices.Contains(ownSchemes, u.Scheme) &&
		!strings.HasPrefix(u.Scheme, "chrome") && u.Scheme != "devtools"
}
