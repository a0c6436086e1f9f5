package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/policy"
)

// Call is one call of a tool. The window's user sees it in questions and reports.
type Call struct {
	*Agent
	Request
	// Out is the answer of the call.
	Out *answer.Answer
	// Brief: the call is one of several steps, and not the last.
	Brief bool
	// Stepwise: it is one of several steps.
	Stepwise bool

	did    did
	asked  map[string]string // what the user was asked about, by targets; see confirm
	target string            // what the call acts on, as reports name it
	source *registry.Source  // of the window, whose user is notified; nil: none
	user   *registry.Source  // of the window, whose user has allowed the call; nil: none
	began  policy.State      // what that user had chosen then
	// permitted is the label of the window in which a mutating call is permitted; empty: in
	// none; nil: in any. A step has the one of the step before.
	permitted *string
}

// Run runs a call: the rules for all calls are here.
func (c *Call) Run(ctx context.Context, do func(context.Context) error) error {
	began := time.Now()
	err := c.permit(ctx)
	if err == nil {
		stoppable, release := c.untilRevoked(ctx)
		err = do(stoppable)
		if c.mayRepeat(err) && c.browserIsBack(stoppable, err) {
			err = do(stoppable)
		}
		if c.readOnly() && c.did.page != nil && errors.Is(err, page.ErrPageClosed) {
			if opener := c.browsers.handOver(stoppable, c.did.page); opener != nil {
				c.notices.handedOver(opener)
				err = do(stoppable)
			}
		}
		c.record(stoppable, err)
		release()
		cause := context.Cause(stoppable)
		if errors.As(cause, new(*policy.DeniedError)) {
			c.browsers.revoke(func(l *link) bool { return l.user == c.user }) // with what the call has set up
			err = cause
		} else if err != nil && cause != nil {
			err = cause
		}
	}
	c.report(began, err)
	return explain(err)
}

// Perform runs a call of a tool, which answers in Out.
func (c *Call) Perform(ctx context.Context, do func(context.Context) error) error {
	err := c.Run(ctx, func(ctx context.Context) error {
		c.Out = c.NewAnswer()
		err := do(ctx)
		if err == nil || tells(c) { // or it failed midway
			c.downloaded(ctx)
			if tells(c) {
				c.Look(ctx, c.Out)
			}
			c.late(ctx)
		}
		return err
	})
	if err == nil && !c.readOnly() {
		c.browsers.noteAction()
	}
	return err
}

// Look answers once with what the page shows since the agent last saw it, and returns that and
// what the answer has of before.
// After a step the page is not looked at, so that one answer has the changes of all.
func (c *Call) Look(ctx context.Context, out *answer.Answer) string {
	p := c.did.page
	if p == nil || c.did.looked || c.Brief || c.Changes == "none" || c.did.change.Paused != nil {
		return ""
	}
	c.did.looked = true
	shown := p.Look(ctx)
	c.did.shown = shown
	if c.did.change.Navigated {
		shown.Title = "" // the answer has it
	}
	out.Shows(shown, c.Changes == "full")
	c.lookAtOpened(ctx, out)
	if prompt := p.Prompt(ctx, c.did.change); prompt != "" {
		out.Quotef("%s", prompt)
	}
	return c.did.earlier + shown.Text
}

// lookAtOpened answers with the beginning of the page in each tab that the action has opened.
func (c *Call) lookAtOpened(ctx context.Context, out *answer.Answer) {
	for _, tab := range c.did.change.NewPages {
		l, err := c.link(ctx)
		if err != nil {
			return
		}
		p, err := l.browser.Page(ctx, tab.ID)
		if err != nil || c.Bind(ctx, p, "") != nil {
			continue // it may have closed
		}
		p.Arrive(ctx)
		if c.mayRead(ctx, p) != nil {
			continue
		}
		if shown := p.Look(ctx); shown.Text != "" {
			out.Addf("Tab %d:", tab.Index)
			out.Shows(shown, false)
		}
	}
}

// late answers with what went wrong since the answer to the last action. An action's own
// answer has that already.
func (c *Call) late(ctx context.Context) {
	if p := c.did.page; p != nil && !c.did.changed {
		late := p.Late(ctx)
		late.NewPages = c.titled(late.NewPages, p.Folders())
		c.browsers.adopt(late.NewPages, p)
		c.Out.Late(late, c.earlier(), p.URL())
	}
}

// earlier is what the page has shown since the answer to the last action. A call whose answer
// has no changes leaves it to the next.
func (c *Call) earlier() snapshot.Changes {
	if c.did.page == nil || c.Changes == "none" {
		return snapshot.Changes{}
	}
	earlier := c.did.page.Reader().Earlier()
	c.did.earlier += earlier.Text
	return earlier
}

// Answer performs a call of a tool, and makes the result of it.
func (c *Call) Answer(ctx context.Context, do func(context.Context) error) *mcp.CallToolResult {
	err := c.Perform(ctx, do)
	c.answered()
	if err != nil {
		out := c.NewAnswer()
		if tells(c) {
			out = c.Out
		}
		return out.Failure(err, ofPage(err), c.notice())
	}
	if !c.Local {
		c.Out.Begin(c.notice())
	}
	return c.Out.Result(c.Structured)
}

// answered notes that the call's answer is all that the agent has seen of the page.
func (c *Call) answered() {
	if c.did.page != nil {
		c.did.page.Reader().Answered()
	}
}

// NewAnswer is an empty answer to the agent.
func (a *Agent) NewAnswer() *answer.Answer { return answer.New(a.Secrets, a.Origins, &a.long) }

// Done answers with a sentence, if there is no error.
func (c *Call) Done(err error, format string, args ...any) error {
	if err == nil {
		c.Out.Addf(format, args...)
	}
	return err
}

// Did answers an action with a sentence, and with what the action changed.
func (c *Call) Did(sentence string) func(page.Change, error) error {
	return func(change page.Change, err error) error {
		if err != nil {
			return err
		}
		c.Out.Addf("%s", sentence)
		c.Changed(change)
		return nil
	}
}

// Changed answers with what an action changed. Tabs that it opened are the agent's own, so
// that it may close them.
func (c *Call) Changed(change page.Change) {
	c.browsers.adopt(change.NewPages, c.did.page)
	c.browsers.adopt(change.Late.NewPages, c.did.page)
	if p := c.did.page; p != nil {
		change = c.titledIn(change, p.Folders())
	}
	c.did.change, c.did.changed = change, true
	if c.did.closed != "" {
		c.Out.Addf("%s", c.did.closed)
		return
	}
	earlier := c.earlier()
	if c.Structured { // a value comes first
		if c.Out.Late(change.Late, earlier, change.URL) {
			c.Out.Addf("Since the script began:")
		}
		c.Out.Changed(change)
		return
	}
	c.Out.Changed(change)
	before := c.NewAnswer()
	before.Late(change.Late, earlier, change.URL)
	c.Out.Precede(before)
}

// Resolve is the selected window, with or without a browser.
func (c *Call) Resolve(ctx context.Context) (registry.Window, error) {
	window, _, err := c.Windows.Resolve(ctx, c.Want(ctx, c.Window))
	return window, err
}

// Ask runs a command of the selected window.
func (c *Call) Ask(ctx context.Context, command string, arg, result any) (registry.Window, error) {
	window, err := c.Resolve(ctx)
	if err == nil {
		err = c.stays(window)
	}
	if err != nil {
		return window, err
	}
	return window, c.Windows.Call(ctx, window, command, arg, result)
}

// stays refuses a window other than the one in which the call was permitted: another
// window may have opened while the user was asked.
func (c *Call) stays(window registry.Window) error {
	if c.permitted == nil || *c.permitted == window.Label() {
		return nil
	}
	return fmt.Errorf("this call now resolves to another window than when it began, %s, so nothing was done: call again to act there", window.Label())
}

// ofPage reports whether an error may quote a page: a dialog's text, the options of a
// list, an exception of a script, the name of an element or a tab. Only errors from
// before the page is resolved cannot.
func ofPage(err error) bool {
	return !errors.As(err, new(*policy.DeniedError)) && !errors.As(err, new(*registry.SelectionError)) &&
		!errors.As(err, new(*noBrowserError)) && !errors.As(err, new(*connectError))
}

// explain adds the agent's next step to an error that does not have one.
func explain(err error) error {
	switch {
	case errors.Is(err, page.ErrBrowserGone) && errors.Is(err, page.ErrUnsent):
		return fmt.Errorf("%w: its debug session ended or it was closed; nothing was done. Call again to use the window's next browser", err)
	case errors.Is(err, page.ErrBrowserGone):
		return fmt.Errorf("%w during the call: its debug session ended or it was closed, and what was asked may have been done. Look at the window's next browser before you call again", err)
	}
	return err
}
