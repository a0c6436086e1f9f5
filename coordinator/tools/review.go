package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/vscodeipc"
)

type reviewIn struct {
	Markdown string  `json:"markdown,omitempty"`
	Title    string  `json:"title,omitempty"`
	Mode     string  `json:"mode,omitempty" about:"replace (default), append or update-section"`
	Section  string  `json:"section,omitempty" about:"its heading"`
	Wait     float64 `json:"wait,omitempty" about:"seconds, for the user's verdict and comments"`
	inWindow
}

var _ = define(Tool{
	Name: "present_review", Title: "Present review",
	Description: "Show the user Markdown beside the code: links to files open there, and the user can apply its " +
		"```diff blocks",
	Effect: Shows, Traits: agent.Traits{Local: true},
	Shell: []command{{Name: "review", Args: "[@markdown]"}},
	Returns: "that the user sees it; with `wait` the user's verdict, text and comments, and which changes of the " +
		"diffs are in the files now",
	Notes: "`wait` is at most 3,600 seconds; without `markdown` it waits for the answer to the review of that " +
		"`title`. After that time, or a cancelled call, the user can still answer; the next call with `wait` gets " +
		"it. Other Markdown under the same title ends the answer to the text before; if no call has returned that, " +
		"this one does. Only the user applies a diff ([the review panel](../specs/extension.md#the-review-panel)).",
	Example: `{"markdown": "# Cart\n\nAll green.", "wait": 600}`,
}, calls[reviewIn]{Do: presentReview})

// longestReview is how long a call may wait for the user's answer to a review.
const longestReview = time.Hour

func presentReview(ctx context.Context, c *agent.Call, in reviewIn) error {
	in.Title = cmp.Or(in.Title, "Review")
	window, err := c.Resolve(ctx)
	switch {
	case err != nil:
		return err
	case in.Markdown != "":
		window, err = showReview(ctx, c, in)
	case in.Wait <= 0:
		return errors.New("present_review needs markdown to show; or wait, without markdown, for the answer to the " +
			"review that is shown")
	}
	if err != nil || in.Wait <= 0 {
		return c.Done(err, "The user sees it in %s.", window.Label())
	}
	return awaitReview(ctx, c, in, window)
}

func showReview(ctx context.Context, c *agent.Call, in reviewIn) (registry.Window, error) {
	var r vscodeipc.ReviewResult
	window, err := c.Ask(ctx, vscodeipc.CommandReviewPresent, vscodeipc.ReviewArg{
		Client: c.Agent.Info(), Title: in.Title, Markdown: in.Markdown, Mode: cmp.Or(in.Mode, "replace"), Section: in.Section,
	}, &r)
	if err == nil && !r.Displayed {
		err = fmt.Errorf("%s did not show it", window.Label())
	}
	if err == nil && r.Answer != nil {
		c.Out.Addf("The user had answered the text before:")
		describeReview(c.Out, *r.Answer, 0)
	}
	return window, err
}

// awaitReview waits for the user's answer to the review that the window shows. The window
// keeps an answer that nobody waits for.
func awaitReview(ctx context.Context, c *agent.Call, in reviewIn, window registry.Window) error {
	if !slices.Contains(window.Commands, vscodeipc.CommandReviewWait) {
		return c.Done(nil, "%s shows the review, but cannot send the user's answer: ask in words.", window.Label())
	}
	limit := secondsUpTo(longestReview, in.Wait)
	var r vscodeipc.ReviewAnswer
	err := c.Agent.Windows.Call(ctx, window, vscodeipc.CommandReviewWait, vscodeipc.ReviewWaitArg{
		Client: c.Agent.Info(), Title: in.Title, Seconds: limit.Seconds(),
	}, &r)
	if err != nil {
		return err
	}
	describeReview(c.Out, r, limit)
	return nil
}

func describeReview(out *answer.Answer, r vscodeipc.ReviewAnswer, limit time.Duration) {
	switch r.Outcome {
	case "approved":
		out.Addf("The user approves the review.")
	case "changes":
		out.Addf("The user requests changes.")
	case "closed":
		out.Addf("The user closed the review without an answer.")
	default:
		out.Addf("The user has not answered within %v, and still can: call again with wait and without markdown.",
			limit)
	}
	if r.Text != "" {
		out.Addf("%s", r.Text)
	}
	for _, comment := range r.Comments {
		out.Addf("- %s: %s", placeOf(comment), strings.ReplaceAll(comment.Text, "\n", "\n  "))
	}
	var applied, open []string
	for _, d := range r.Diffs {
		place := fmt.Sprintf("%s:%d", d.File, d.From)
		if d.To > d.From {
			place += fmt.Sprintf("-%d", d.To)
		}
		if d.Applied {
			applied = append(applied, place)
		} else {
			open = append(open, place)
		}
	}
	if len(applied) > 0 {
		out.Addf("Applied: %s, in the editor, perhaps not saved yet.", strings.Join(applied, ", "))
	}
	if len(open) > 0 {
		out.Addf("Not applied: %s.", strings.Join(open, ", "))
	}
}

// placeOf names what a comment is about: a line of a changed file, or else of the review.
func placeOf(c vscodeipc.ReviewComment) string {
	switch {
	case c.File != "" && c.FileLine > 0:
		return fmt.Sprintf("%s:%d %q", c.File, c.FileLine, c.Quote)
	case c.Line > 0:
		return fmt.Sprintf("line %d of the review %q", c.Line, c.Quote)
	}
	return fmt.Sprintf("%q", c.Quote)
}
