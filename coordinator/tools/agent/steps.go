package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/answer"
)

// effect is what a call has done in its page.
type effect struct {
	page        *page.Page // nil: the call needed none
	url         string     // its address before
	change      page.Change
	changed     bool   // the call was an action, which change is the result of
	target      string // the elements that it acted on, as reports name them; empty: see question
	closed      string // reports that the action has closed the page; empty: it has not
	looked      bool   // see Look
	earlierText string // what the page has shown before, see earlierChanges
	trace       trace
}

// trace is what a test needs of a call.
type trace struct {
	changes  snapshot.Changes        // what the answer shows
	locators []javascript.Expression // of the elements, from the moment before the action
	frame    javascript.Expression   // in which something was seen; zero: the main frame
	dialog   *page.Dialog            // that it answers
}

// hasEffect reports whether an answer has what a call did even if it failed: it failed midway,
// or what it waited for did not happen.
func (c *Call) hasEffect() bool {
	return c.effect.changed || c.Request.Waits
}

// Steps runs calls one after the other. Each is permitted and reported by itself. An error
// or a surprise ends them: the answer contains it, and what was not done.
func (a *Agent) Steps(ctx context.Context, steps []Request) *answer.Result {
	out, failure := a.NewAnswer(), answer.Failure("")
	var at track
	var done []*Call
	var former *Call
	for n, r := range steps {
		number, rest, position := fmt.Sprintf("%d. ", n+1), steps[n+1:], between
		if len(rest) == 0 {
			position = lastStep
		}
		c := &Call{Agent: a, Request: r, position: position}
		err := c.run(ctx, former)
		former, done = c, append(done, c)
		if err != nil {
			failure = failureOf(err)
			out.Quotef("%s%s failed: %s", number, c.Request.Name, out.Reason(err))
			if c.hasEffect() {
				out.Append("", c.Out)
			}
			c.look(ctx, out)
			c.Out = out
			c.addLateEffects(ctx)
			notDone(out.Addf, n+1, rest)
			break
		}
		out.Append(number, c.Out)
		at.reached(c)
		if len(rest) == 0 {
			break
		}
		if reason := at.surprise(c, rest[0]); reason != "" {
			failure = answer.Stopped
			out.Quotef("Stopped: %s.", out.Reason(errors.New(reason)))
			c.look(ctx, out)
			notDone(out.Addf, n+1, rest)
			break
		}
	}
	for _, c := range done {
		c.answered()
	}
	out.Begin(a.notice())
	result := out.Result(false)
	result.Failure = cmp.Or(failure, result.Failure)
	return result
}

func notDone(addf func(string, ...any), after int, rest []Request) {
	names := make([]string, len(rest))
	for i, step := range rest {
		names[i] = fmt.Sprintf("%d %s", after+i+1, step.Name)
	}
	if len(names) > 0 {
		addf("Not done: %s.", strings.Join(names, ", "))
	}
}

// track is where the steps of a call have acted.
type track struct {
	page *page.Page // nil: in none yet
	at   string     // where that is, see [address.Place]
}

// reached notes where a step has acted.
func (p *track) reached(c *Call) {
	if c.effect.page == nil {
		return
	}
	p.page, p.at = c.effect.page, address.Place(c.effect.url)
	if c.Request.Leaves {
		p.at = p.page.Place()
	}
}

// surprise is why the next step is not done; empty: there is no reason.
func (p *track) surprise(step *Call, next Request) string {
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
	if p.page == nil || next.Leaves || p.page.Place() == p.at {
		return ""
	}
	return "the page has gone to " + p.page.Place() + ", and no step asked for that"
}
