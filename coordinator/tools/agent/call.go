package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// position is where a call is among the steps of one call.
type position int

const (
	single     position = iota // it is no step
	unanswered                 // its result is no answer to the agent
	between                    // another step follows
	lastStep
)

// Call is a call of a tool under way. The window's user sees it in questions and reports.
type Call struct {
	Agent   *Agent
	Request Request
	// Out is the answer of the call.
	Out *answer.Answer

	position position
	began    time.Time // with the permission

	// Where it works, each decided once: the window or none, the browser, the tab.
	where decision
	in    *connection // nil: not connected
	place *place      // nil as in
	tab   *tab        // nil: not decided, or it needs none

	permission permission
	asked      bool // the user was asked: the answer holds for what was asked about, so the call never begins again
	effect     effect
	inVideo    bool // the video has a chapter of the call
}

// IsStep reports whether the call is one of several steps.
func (c *Call) IsStep() bool { return c.position == between || c.position == lastStep }

// HasNext reports whether the call is a step that another one follows.
func (c *Call) HasNext() bool { return c.position == between }

// Answer runs a call of a tool, and makes the result of it.
func (a *Agent) Answer(ctx context.Context, r Request) *answer.Result {
	c := &Call{Agent: a, Request: r}
	err := c.run(ctx, nil)
	c.answered()
	notes := a.NewAnswer()
	if err != nil || !r.Local {
		a.takeNotes(ctx, notes)
	}
	if err != nil {
		out := a.NewAnswer()
		if c.hasEffect() {
			out = c.Out
		}
		return out.Failure(err, failureOf(err), ofPage(err), a.notice(), notes)
	}
	if !r.Local {
		c.Out.Precede(notes)
		c.Out.Begin(a.notice())
	}
	return c.Out.Result(r.Structured)
}

// Read runs a read-only call without an answer. name is what its user sees of it.
func (a *Agent) Read(ctx context.Context, name string, do func(context.Context, *Call) error) error {
	r := Request{Operation: policy.Operation{Name: name, Class: policy.ReadOnly}, Do: do}
	c := &Call{Agent: a, Request: r, position: unanswered}
	return c.run(ctx, nil)
}

// run runs a call, and reports it to the window's user. former is the step before; nil: none.
//
// A call that has lost its browser or its tab, and has sent nothing there or only reads, begins
// again: it decides anew where it goes, and whether that is another place than its last answer named.
func (c *Call) run(ctx context.Context, former *Call) error {
	c.Agent.stopPicture()
	start := time.Now()
	err := c.attempt(ctx, former)
	if !c.asked && c.Request.mayRepeat(err) {
		if errors.Is(err, page.ErrPageClosed) {
			c.leaveTab(ctx)
		}
		if err = c.awaitBrowser(ctx, err); err == nil {
			err = c.attempt(ctx, former)
		}
	}
	err = c.explain(c.nameHolds(err))
	c.noteTakeover()
	c.report(ctx, start, err)
	return err
}

// attempt runs a call, in this order.
func (c *Call) attempt(ctx context.Context, former *Call) (err error) {
	c.began, c.Out = time.Now(), c.Agent.NewAnswer()
	c.in, c.place, c.tab, c.permission, c.effect = nil, nil, nil, permission{}, effect{}
	if c.where, err = c.decideAfter(ctx, former); err != nil { // where it goes
		return err
	}
	if err := c.permit(ctx); err != nil { // whether it may, there; it waits for the user's answer
		return err
	}
	c.began = time.Now()
	defer c.listRunning()()
	ctx, release := c.untilRevoked(ctx)
	err = c.awaitReturn(ctx) // the user may have taken over
	if err == nil {
		err = c.Request.Do(ctx, c)
	}
	looking, cancel := context.WithTimeout(ctx, lookTimeout)
	c.lookAfter(looking, err) // at what has followed
	c.record(looking, err)
	cancel()
	release()
	return c.revoked(ctx, err)
}

// lookTimeout bounds all that follows what was asked for: a call returns within its own time and five seconds, of
// which the look at its target before may take one.
const lookTimeout = 3500 * time.Millisecond

// lookAfter answers with what has followed the call, also if it failed midway.
func (c *Call) lookAfter(ctx context.Context, err error) {
	if c.position == unanswered || err != nil && !c.hasEffect() {
		return
	}
	c.downloaded(ctx)
	c.addHolds()
	if c.hasEffect() {
		c.Look(ctx, c.Out)
	}
	c.addLateEffects(ctx)
	c.addViewport(ctx)
}

// revoked is the error of a call whose user has stopped the agent, or allows less, meanwhile.
func (c *Call) revoked(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause != nil {
		cause = withPart(err, cause)
	}
	if errors.As(cause, new(*policy.DeniedError)) {
		user := c.permission.user
		c.Agent.suspend(func(in *connection) bool { return in.user == user }) // with what the call has set up
		return cause
	}
	if err != nil && cause != nil {
		return cause
	}
	return err
}

// leaveTab notes that the call's tab has closed. The browser may still list it for a moment.
func (c *Call) leaveTab(ctx context.Context) {
	if c.effect.page == nil {
		return
	}
	closed := c.effect.page.ID()
	pages, err := c.in.browser.Pages(ctx)
	if err != nil {
		return // the next attempt reports it
	}
	c.place.closed(closed, slices.DeleteFunc(pages, func(p page.Info) bool { return p.ID == closed }))
}

// decideAfter is where a call goes. Steps in a window stay in that window.
func (c *Call) decideAfter(ctx context.Context, former *Call) (decision, error) {
	name := c.Request.Window
	if former != nil && former.where.window != nil && former.Request.Window == name {
		name = string(former.where.window.Address)
	}
	return c.Agent.decide(ctx, name, c.Request.Local)
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
	if p == nil || c.effect.looked || c.Request.Changes == "none" || c.effect.change.Paused != nil {
		return ""
	}
	c.effect.looked = true
	changes := c.Agent.lookAt(ctx, p)
	c.effect.trace.changes = changes
	if c.effect.change.Navigated {
		changes.Title = "" // the answer has it
	}
	if of := changes.Document; changes.New && c.effect.changed && of.Generation != c.effect.change.Document {
		out.Quotef("Another document has replaced that since.\nPage: %s\nURL: %s", of.Title, of.URL)
	}
	out.Shows(changes, c.Request.Changes == "full")
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
		if err != nil || c.Agent.Bind(ctx, p, "") != nil {
			continue // it may have closed
		}
		p.Arrive(ctx)
		if c.Agent.mayRead(ctx, p) != nil {
			continue
		}
		if changes := c.Agent.lookAt(ctx, p); changes.Text != "" {
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
		effects.Tabs.Open = c.Agent.hideTitles(effects.Tabs.Open, p.Folders())
		c.adopt(effects.Tabs.Open, p)
		c.Out.AddLateEffects(effects, c.earlierChanges(), p.URL())
	}
}

// addViewport answers with the size of the page, if another client has replaced the one that the agent set, or
// the page was stuck in another one.
func (c *Call) addViewport(ctx context.Context) {
	if p := c.effect.page; p != nil {
		if sentence := p.ViewportReplaced(ctx); sentence != "" {
			c.Out.Addf("%s", sentence)
		}
		if sentence := p.Healed(ctx); sentence != "" {
			c.Out.Warn(sentence)
		}
	}
}

// earlierChanges is what the page has shown since the answer to the last action. A call whose answer
// has no changes leaves it to the next.
func (c *Call) earlierChanges() snapshot.Changes {
	if c.effect.page == nil || c.Request.Changes == "none" {
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

// adopt records tabs that an action of the call has opened in a page.
func (c *Call) adopt(tabs []page.Info, opener *page.Page) {
	if c.place != nil && opener != nil {
		c.place.adopt(tabs, opener.ID())
	}
}

// Changed answers with what an action changed. Tabs that it opened are the agent's own, so
// that it may close them.
func (c *Call) Changed(change page.Change) {
	c.adopt(change.Tabs.Open, c.effect.page)
	c.adopt(change.Late.Tabs.Open, c.effect.page)
	if p := c.effect.page; p != nil {
		change = c.Agent.hideTitlesIn(change, p.Folders())
	}
	c.effect.change, c.effect.changed = change, true
	if c.effect.closed != "" {
		c.Out.Addf("%s", c.effect.closed)
		return
	}
	earlierChanges := c.earlierChanges()
	if c.effect.page != nil && c.Request.Changes == "none" {
		c.effect.page.Reader().Defer()
	}
	if c.Request.Structured { // a value comes first
		if c.Out.AddLateEffects(change.Late, earlierChanges, change.URL) {
			c.Out.Lead("Since the script began:")
		}
		c.Out.Changed(change)
		return
	}
	c.Out.Changed(change)
	before := c.Agent.NewAnswer()
	before.AddLateEffects(change.Late, earlierChanges, change.URL)
	c.Out.Precede(before)
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

// isPersonal reports whether the call is in the user's own browser, to which a program of ours holds the connection.
func (c *Call) isPersonal() bool {
	if c.where.owner == ofWindow {
		if c.in == nil {
			return false
		}
		browser := c.in.window.State.Browser
		return browser != nil && browser.Via == string(launch.Personal)
	}
	return c.Agent.Launcher != nil && c.Agent.Launcher.Kind() == launch.Personal
}

// responseTimeout bounds how long a browser takes to state its version, whatever its pages do.
const responseTimeout = 2 * time.Second

// explainSilence replaces an error of what did not answer in time, if the user's own browser does not
// answer either: then no page is the cause, and what the error advises or claims to have stopped is untrue.
func (c *Call) explainSilence(err error) error {
	if c.in == nil || !c.isPersonal() {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), responseTimeout)
	defer cancel()
	if _, failed := c.in.browser.Product(ctx); failed == nil || ctx.Err() == nil {
		return err
	}
	return withPart(err, errors.New("the connection to the user's own Chrome does not respond: the program that holds "+
		"it is stopped or overloaded. Chrome itself runs on, with its tabs, and what was asked may have been done, or "+
		"be done later. Ask the user to continue that program or to end it (`coordinator status` names its process), "+
		"then look at the page and call again"))
}

// withPart is an error in place of another one, with what that call had done.
func withPart(failed, instead error) error {
	if done := input.Part(failed); done != "" {
		return &input.PartialError{Done: done, Err: instead}
	}
	return instead
}

// explain adds the agent's next step to an error that does not have one, and removes the
// window's code for it.
func (c *Call) explain(err error) error {
	if fault, ok := errors.AsType[*vscodeipc.Error](err); ok {
		return errors.New(fault.Message)
	}
	if isLate(err) {
		return c.explainSilence(err)
	}
	switch {
	case errors.Is(err, page.ErrPageClosed) && !c.Request.readOnly():
		if errors.Is(err, page.ErrUnsent) {
			return fmt.Errorf("%w; nothing was done", err)
		}
		return fmt.Errorf("%w; what was asked may have been done", err)
	case !errors.Is(err, page.ErrBrowserGone):
		return err
	}
	a := c.Agent
	disconnected := errors.As(err, new(*page.DisconnectedError))
	if c.isPersonal() && !disconnected {
		return c.explainLoss(err)
	}
	ended, next := "its debug session ended or it was closed", "the window's next browser"
	if c.where.owner == ofSession && !a.ownRuns() && a.places.leave(ownSeat) { // this error reports it
		ended, next = "it has ended, with its pages, tabs and logins", "the next one, which the next call opens,"
	}
	if disconnected {
		ended, next = "the browser runs on, with its tabs", "it"
	}
	if errors.Is(err, page.ErrUnsent) {
		return fmt.Errorf("%w: %s; nothing was done. Call again to use %s", err, ended, next)
	}
	return fmt.Errorf("%w during the call: %s, and what was asked may have been done. Look at %s before you act again",
		err, ended, next)
}

// explainLoss is the error of a call that has lost the connection to the user's own browser.
func (c *Call) explainLoss(err error) error {
	outcome, next := "what was asked may have been done", "The next call connects again"
	if errors.Is(err, page.ErrUnsent) {
		outcome = "nothing was done"
	}
	if c.where.owner == ofWindow {
		next = "Connect again with debug_start"
	}
	return withPart(err, fmt.Errorf("the connection to the user's own Chrome has ended, and %s. That alone ends neither "+
		"Chrome nor its tabs: Chrome runs on unless its user closed it, and your tabs in it are the user's now. %s, "+
		"which Chrome asks its user to allow. Then open a tab, or have the user hand one over", outcome, next))
}
