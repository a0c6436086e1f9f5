package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// position is where a call is among the steps of one call.
type position int

const (
	single  position = iota // it is no step
	between                 // another step follows
	lastStep
)

// Call is a call of a tool under way. The window's user sees it in questions and reports.
type Call struct {
	*Agent
	Request
	// Out is the answer of the call.
	Out *answer.Answer

	began      time.Time // with the permission
	position   position
	permission permission
	in         *connection // to the browser of the call; nil: it is not resolved yet
	effect     effect
	inVideo    bool // the video has a chapter of the call
}

// IsStep reports whether the call is one of several steps.
func (c *Call) IsStep() bool { return c.position != single }

// HasNext reports whether the call is a step that another one follows.
func (c *Call) HasNext() bool { return c.position == between }

// Answer runs a call of a tool, and makes the result of it.
func (a *Agent) Answer(ctx context.Context, r Request) *answer.Result {
	c, err := a.perform(ctx, r, single, nil)
	c.answered()
	notes := a.NewAnswer()
	if err != nil || !c.Local {
		a.takeNotes(ctx, notes)
	}
	if err != nil {
		out := a.NewAnswer()
		if c.hasEffect() {
			out = c.Out
		}
		return out.Failure(err, failureOf(err), ofPage(err), a.notice(), notes)
	}
	if !c.Local {
		c.Out.Precede(notes)
		c.Out.Begin(a.notice())
	}
	return c.Out.Result(c.Structured)
}

// Read runs a read-only call without an answer. name is what its user sees of it.
func (a *Agent) Read(ctx context.Context, name string, do func(context.Context, *Call) error) error {
	r := Request{Operation: policy.Operation{Name: name, Class: policy.ReadOnly}, Do: do}
	_, err := a.run(ctx, r, single, nil)
	return err
}

// perform runs a call of a tool, whose answer has what it did, also if it failed midway. address is
// that of the window of the steps before; nil: any.
func (a *Agent) perform(ctx context.Context, r Request, at position, address *vscodeipc.Address) (*Call, error) {
	do := r.Do
	r.Do = func(ctx context.Context, c *Call) error {
		c.Out = c.NewAnswer()
		err := do(ctx, c)
		if err == nil || c.hasEffect() {
			c.downloaded(ctx)
			if c.hasEffect() {
				c.Look(ctx, c.Out)
			}
			c.addLateEffects(ctx)
			c.addViewport(ctx)
		}
		return err
	}
	return a.run(ctx, r, at, address)
}

// run runs a call: the rules for all calls are here.
func (a *Agent) run(ctx context.Context, r Request, at position, address *vscodeipc.Address) (*Call, error) {
	a.stopPicture()
	start := time.Now()
	permission, err := a.permit(ctx, &r, address)
	c := &Call{
		Agent: a, Request: r, Out: a.NewAnswer(), began: time.Now(), position: at, permission: permission,
	}
	if err == nil {
		end := c.listRunning()
		err = c.runPermitted(ctx)
		end()
	}
	err = c.nameHolds(a.explain(err))
	c.noteTakeover()
	c.report(ctx, start, err)
	return c, err
}

// runPermitted runs a call until its user revokes the permission. It repeats a call that has
// lost its browser or its page, if that does nothing twice.
func (c *Call) runPermitted(ctx context.Context) error {
	ctx, release := c.untilRevoked(ctx)
	do := func() error {
		if err := c.awaitReturn(ctx, &c.Request, c.permission.user); err != nil {
			return err
		}
		return c.Do(ctx, c)
	}
	err := do()
	if c.mayRepeat(err) {
		if err = c.awaitBrowser(ctx, err); err == nil {
			err = do()
		}
	}
	if c.readOnly() && c.effect.page != nil && errors.Is(err, page.ErrPageClosed) {
		if opener := c.handOver(ctx, c.effect.page); opener != nil {
			c.notifyHandOver(opener)
			err = do()
		}
	}
	c.record(ctx, err)
	release()
	cause := context.Cause(ctx)
	if errors.As(cause, new(*policy.DeniedError)) {
		c.suspend(func(in *connection) bool { return in.user == c.permission.user }) // with what the call has set up
		return cause
	}
	if err != nil && cause != nil {
		return cause
	}
	return err
}

// Look answers once with what the page shows since the agent last saw it, and returns that and
// what the answer has of before.
// After a step the page is not looked at, so that one answer has the changes of all.
func (c *Call) Look(ctx context.Context, out *answer.Answer) string {
	if c.HasNext() {
		return ""
	}
	return c.look(ctx, out)
}

// look is Look for whichever step.
func (c *Call) look(ctx context.Context, out *answer.Answer) string {
	p := c.effect.page
	if p == nil || c.effect.looked || c.Changes == "none" || c.effect.change.Paused != nil {
		return ""
	}
	c.effect.looked = true
	changes := c.lookAt(ctx, p)
	c.effect.trace.changes = changes
	if c.effect.change.Navigated {
		changes.Title = "" // the answer has it
	}
	out.Shows(changes, c.Changes == "full")
	c.lookAtOpened(ctx, out)
	if prompt := p.Prompt(ctx, c.effect.change); prompt != "" {
		out.Quotef("%s", prompt)
	}
	return c.effect.earlierText + changes.Text
}

// lookAt is what a page shows since the agent last saw it, with what an answer keeps of it for its
// reader.
func (a *Agent) lookAt(ctx context.Context, p *page.Page) snapshot.Changes {
	changes := p.Look(ctx)
	if a.Whole && (changes.Much || changes.Unknown) && (changes.New || changes.Text == "") {
		changes.Whole = p.Reader().Whole(ctx)
	}
	return changes
}

// lookAtOpened answers with the beginning of the page in each tab that the action has opened.
func (c *Call) lookAtOpened(ctx context.Context, out *answer.Answer) {
	for _, tab := range c.effect.change.Tabs.Open {
		in, err := c.connection(ctx)
		if err != nil {
			return
		}
		p, err := in.browser.Page(ctx, tab.ID)
		if err != nil || c.Bind(ctx, p, "") != nil {
			continue // it may have closed
		}
		p.Arrive(ctx)
		if c.mayRead(ctx, p) != nil {
			continue
		}
		if changes := c.lookAt(ctx, p); changes.Text != "" {
			out.Addf("Tab %d:", tab.Index)
			out.Shows(changes, false)
		}
	}
}

// addLateEffects answers with what went wrong since the answer to the last action. An action's own
// answer has that already.
func (c *Call) addLateEffects(ctx context.Context) {
	if p := c.effect.page; p != nil && !c.effect.changed {
		effects := p.LateEffects(ctx)
		effects.Tabs.Open = c.hideTitles(effects.Tabs.Open, p.Folders())
		c.adopt(effects.Tabs.Open, p)
		c.Out.AddLateEffects(effects, c.earlierChanges(), p.URL())
	}
}

// addViewport answers with the size of the page, if another client has replaced the one that the agent set.
func (c *Call) addViewport(ctx context.Context) {
	if p := c.effect.page; p != nil {
		if sentence := p.ViewportReplaced(ctx); sentence != "" {
			c.Out.Addf("%s", sentence)
		}
	}
}

// earlierChanges is what the page has shown since the answer to the last action. A call whose answer
// has no changes leaves it to the next.
func (c *Call) earlierChanges() snapshot.Changes {
	if c.effect.page == nil || c.Changes == "none" {
		return snapshot.Changes{}
	}
	earlierChanges := c.effect.page.Reader().EarlierChanges()
	c.effect.earlierText += earlierChanges.Text
	return earlierChanges
}

// answered notes that the call's answer is all that the agent has seen of the page.
func (c *Call) answered() {
	if c.effect.page != nil {
		c.effect.page.Reader().Answered()
	}
}

// NewAnswer is an empty answer to the agent.
func (a *Agent) NewAnswer() *answer.Answer {
	if a.Whole {
		return answer.New(a.Secrets, a.Origins, nil, a.Spell)
	}
	return answer.New(a.Secrets, a.Origins, &a.long, a.Spell)
}

// Done answers with a sentence, if there is no error.
func (c *Call) Done(err error, format string, args ...any) error {
	if err == nil {
		c.Out.Addf(format, args...)
	}
	return err
}

// AnswerAction answers an action with a sentence, and with what the action changed.
func (c *Call) AnswerAction(sentence string) func(page.Change, error) error {
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
	c.adopt(change.Tabs.Open, c.effect.page)
	c.adopt(change.Late.Tabs.Open, c.effect.page)
	if p := c.effect.page; p != nil {
		change = c.hideTitlesIn(change, p.Folders())
	}
	c.effect.change, c.effect.changed = change, true
	if c.effect.closed != "" {
		c.Out.Addf("%s", c.effect.closed)
		return
	}
	earlierChanges := c.earlierChanges()
	if c.effect.page != nil && c.Changes == "none" {
		c.effect.page.Reader().Defer()
	}
	if c.Structured { // a value comes first
		if c.Out.AddLateEffects(change.Late, earlierChanges, change.URL) {
			c.Out.Addf("Since the script began:")
		}
		c.Out.Changed(change)
		return
	}
	c.Out.Changed(change)
	before := c.NewAnswer()
	before.AddLateEffects(change.Late, earlierChanges, change.URL)
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
		err = c.permission.check(window)
	}
	if err != nil {
		return window, err
	}
	return window, c.Windows.Call(ctx, window, command, arg, result)
}

// ofPage reports whether an error may quote a page: a dialog's text, the options of a
// list, an exception of a script, the name of an element or a tab. Only errors from
// before the page is resolved cannot.
func ofPage(err error) bool {
	return !errors.As(err, new(*policy.DeniedError)) && !errors.As(err, new(*registry.SelectionError)) &&
		!errors.As(err, new(*noBrowserError)) && !errors.As(err, new(*connectError)) && !errors.As(err, new(*goneError))
}

// failureOf is the kind of an error of a call.
func failureOf(err error) answer.Failure {
	switch {
	case errors.As(err, new(*policy.DeniedError)), errors.As(err, new(*guard.LimitError)):
		return answer.Denied
	case errors.As(err, new(*registry.SelectionError)), errors.As(err, new(*noBrowserError)),
		errors.As(err, new(*connectError)):
		return answer.NoBrowser
	}
	return answer.Failed
}

// explain adds the agent's next step to an error that does not have one, and removes the
// window's code for it.
func (a *Agent) explain(err error) error {
	if fault, ok := errors.AsType[*vscodeipc.Error](err); ok {
		return errors.New(fault.Message)
	}
	if !errors.Is(err, page.ErrBrowserGone) {
		return err
	}
	ended, next := "its debug session ended or it was closed", "the window's next browser"
	a.mu.Lock()
	if home := a.home; home != nil && home == a.last && home.owner == ofSession {
		a.home = nil // this error reports it
		ended, next = "it has ended, with its pages, tabs and logins", "the next one, which the next call opens,"
	}
	a.mu.Unlock()
	if errors.As(err, new(*page.DisconnectedError)) {
		ended, next = "the browser runs on, with its tabs", "it"
	}
	if errors.Is(err, page.ErrUnsent) {
		return fmt.Errorf("%w: %s; nothing was done. Call again to use %s", err, ended, next)
	}
	return fmt.Errorf("%w during the call: %s, and what was asked may have been done. Look at %s before you act again",
		err, ended, next)
}
