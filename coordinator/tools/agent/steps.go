package agent

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/answer"
)

// Step is one of several calls that an agent makes at once.
type Step struct {
	*Call
	Do func(context.Context) error
	// Name is how an answer refers to the step.
	Name string
	// Leaves reports that the step opens or expects another document, of any origin.
	Leaves bool
	// Answers reports that the step answers a dialog.
	Answers bool
}

// effect is what a call has done in its page.
type effect struct {
	page    *page.Page // nil: the call needed none
	url     string     // its address before
	change  page.Change
	changed bool   // the call was an action, which change is the result of
	closed  string // reports that the action has closed it; empty: it has not
	looked  bool   // see Look
	earlier string // what the page has shown before, see earlier

	// For tests: what an answer shows; the locators of the elements, from the moment before the
	// action; that of the frame in which something was seen, empty: the main frame; the dialog
	// that it answers.
	shown    snapshot.Changes
	locators []javascript.Expression
	frame    javascript.Expression
	dialog   *page.Dialog
}

// hasEffect reports whether an answer has what a call did even if it failed: it failed midway,
// or what it waited for did not happen.
func (c *Call) hasEffect() bool {
	return c.Out != nil && (c.effect.changed || c.Waits) // it was permitted
}

// Steps runs calls one after the other. Each is permitted and reported by itself. An error
// or a surprise ends them: the answer contains it, and what was not done.
func (a *Agent) Steps(ctx context.Context, steps []Step) *answer.Result {
	out, failed := a.NewAnswer(), false
	var at place
	for n, step := range steps {
		number, rest := fmt.Sprintf("%d. ", n+1), steps[n+1:]
		step.position, step.permission = between, at.permission
		if len(rest) == 0 {
			step.position = lastStep
		}
		if err := step.Perform(ctx, step.Do); err != nil {
			failed = true
			out.Quotef("%s%s failed: %v", number, step.Name, err)
			if step.hasEffect() {
				out.Append("", step.Out)
			}
			step.lookNow(ctx, out)
			step.Out = out
			step.late(ctx)
			notDone(out.Addf, n+1, rest)
			break
		}
		out.Append(number, step.Out)
		at.reached(step)
		if len(rest) == 0 {
			break
		}
		if why := at.surprise(step, rest[0]); why != "" {
			out.Quotef("Stopped: %s.", why)
			step.lookNow(ctx, out)
			notDone(out.Addf, n+1, rest)
			break
		}
	}
	for _, step := range steps {
		step.answered()
	}
	out.Begin(a.notice())
	result := out.Result(false)
	result.Failed = failed
	return result
}

// lookNow is Look after the last step that is done.
func (s *Step) lookNow(ctx context.Context, out *answer.Answer) {
	s.position = lastStep
	s.Look(ctx, out)
}

func notDone(addf func(string, ...any), after int, rest []Step) {
	names := make([]string, len(rest))
	for i, step := range rest {
		names[i] = fmt.Sprintf("%d %s", after+i+1, step.Name)
	}
	if len(names) > 0 {
		addf("Not done: %s.", strings.Join(names, ", "))
	}
}

// place is where the steps of a call act.
type place struct {
	permission *permission
	page       *page.Page // nil: none yet
	origin     string     // of its document
}

// reached notes where a step has acted.
func (p *place) reached(step Step) {
	if step.permission != nil {
		p.permission = step.permission
	}
	if step.effect.page == nil {
		return
	}
	p.page, p.origin = step.effect.page, originOf(step.effect.url)
	if step.Leaves {
		p.origin = originOf(p.page.URL())
	}
}

// surprise is why the next step is not done; empty: there is no reason.
func (p *place) surprise(step, next Step) string {
	change := step.effect.change
	switch {
	case step.effect.closed != "" && next.Tab == nil:
		return "the tab has closed"
	case change.Dialog != nil && next.Answers:
		return ""
	case change.Dialog != nil:
		return "the dialog must be answered first, with browser_handle_dialog"
	case change.Paused != nil:
		return "the page is paused in the debugger"
	case change.Chooser != nil:
		return "the page asks for files"
	case change.Refused != nil:
		return "a navigation was refused"
	case len(change.Invalid) > 0:
		return "the form was not sent"
	}
	if p.page == nil || next.Leaves || originOf(p.page.URL()) == p.origin {
		return ""
	}
	return "the page has gone to " + originOf(p.page.URL()) + ", and no step asked for that"
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}
