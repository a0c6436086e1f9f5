package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/policy"
)

type waitIn struct {
	Target   string `json:"target,omitempty" is:"unlisted subject"`
	Text     string `json:"text,omitempty"`
	New      bool   `json:"new,omitempty" about:"of text: another one"`
	TextGone string `json:"textGone,omitempty"`
	URL      string `json:"url,omitempty" about:"part of it" is:"subject"`
	// Expression is JavaScript of the page's own world.
	Expression  string  `json:"expression,omitempty" about:"JavaScript that becomes true" is:"script"`
	NetworkIdle bool    `json:"networkIdle,omitempty"`
	Time        float64 `json:"time,omitempty" about:"limit in seconds; alone: just wait"`
	inPage
}

var _ = define(Tool{
	Name: "browser_wait_for", Title: "Wait", Description: "Wait until all that is given is true",
	Effect: Acts, Category: policy.Script, Traits: agent.Traits{Waits: true},
	ReadOnly: "without `expression`, which can do whatever a script of the page can",
	Steps:    []action{{Name: "wait"}, {Name: "expect", Aliases: []string{"assert"}, Adapt: expect}},
	Shell: []command{
		{Name: "wait", Args: "[text]"},
		{Name: "expect", Summary: "Fail unless all that is given is true within 5 s", Args: "[text]"},
	},
	Returns: "what changed, also if the wait fails; of `text` also the lines where it is, with refs",
	Notes: "- `text`: a frame or shadow root shows it, ignoring case and white space, or one has shown it " +
		"since your last answer: then the wait is over at once, also if it is gone now. With `new`, more often than " +
		"when the wait began, or in a new document.\n" +
		"- `target`, which is not listed: the element is visible and, with `text`, shows that.\n" +
		"- `url`: the URL contains it; with asterisks it is a glob.\n" +
		"- `networkIdle`: the page has loaded and made no request for 500 ms, apart from streams.\n" +
		"- `time` is by default, and at most, 30.\n\n" +
		"The result reports what was there, or gone, already when the wait began.",
	Example: `{"text": "Thank you"}`,
}, calls[waitIn]{
	ReadOnlyIf: func(in waitIn) bool { return in.Expression == "" },
	Leaves:     func(in waitIn) bool { return in.URL != "" },
	Do:         waitFor,
	Code: func(in waitIn, d *agent.Record) export.Step {
		limit := longestWait.Milliseconds()
		if in.Time > 0 {
			limit = int64(in.Time * 1000)
		}
		timeout := javascript.Format("{ timeout: $ }", limit)
		var s export.Step
		if in.Target != "" {
			return export.Step{Comment: "A wait for an element is not part of the test."}
		}
		if strings.Contains(in.URL, "*") {
			s.Code = append(s.Code, javascript.Format("$.waitForURL($, $)", d.Page, in.URL, timeout))
		} else if in.URL != "" {
			s.Code = append(s.Code, export.ExpectPartOfURL(d.Page, in.URL, timeout))
		}
		if in.Text != "" {
			s.Code = append(s.Code, export.ExpectText(d.Scope, in.Text, timeout))
		}
		if in.TextGone != "" {
			s.Code = append(s.Code, export.ExpectNoText(d.Scope, in.TextGone, timeout))
		}
		if in.Expression != "" {
			s.Code = append(s.Code, javascript.Format("$.waitForFunction($, undefined, $)", d.Page,
				called(in.Expression, "("+in.Expression+"\n)"), timeout))
		}
		if in.NetworkIdle {
			s.Code = append(s.Code, javascript.Format("$.waitForLoadState('networkidle')", d.Page))
		}
		if s.Code == nil {
			return code(javascript.Format("$.waitForTimeout($)", d.Page, limit))
		}
		return s
	},
})

// expectedWithin is how many seconds may pass until what a step expects is so.
const expectedWithin = 5

// expect is inTime. Without anything to expect it sets no time: the tool reports that.
func expect(arguments map[string]any) map[string]any {
	expects := slices.ContainsFunc(slices.Collect(maps.Keys(arguments)), func(name string) bool {
		return name != "time" && name != "tab" && name != "window"
	})
	if !expects {
		delete(arguments, "time")
		return arguments
	}
	return inTime(arguments)
}

// inTime limits the wait of a step.
func inTime(arguments map[string]any) map[string]any {
	if arguments["time"] == nil {
		arguments["time"] = expectedWithin
	}
	return arguments
}

// longestWait is Playwright MCP's limit too.
const longestWait = 30 * time.Second

func waitFor(ctx context.Context, c *agent.Call, in waitIn) error {
	if in.Time < 0 {
		return errors.New("time: want 0 seconds or more")
	}
	limit := secondsUpTo(longestWait, in.Time)
	wait := page.WaitOptions{
		Target: in.Target, Text: in.Text, New: in.New, Gone: in.TextGone, URL: in.URL, Expression: in.Expression,
		Idle: in.NetworkIdle,
	}
	if wait == (page.WaitOptions{}) {
		if limit == 0 {
			return errors.New("nothing to wait for: give text, textGone, url, expression, networkIdle or time")
		}
		if in.Time > longestWait.Seconds() {
			return fmt.Errorf("time: want at most %.0f seconds", longestWait.Seconds())
		}
		return rest(ctx, c, limit)
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	wait.Timeout, wait.Place = limit, c.Bounds(ctx, p).Place
	sentence := "It is so now."
	switch {
	case in.Text+in.Target != "" && in.TextGone == "":
		sentence = "It is there."
	case in.TextGone != "" && in.Text == "":
		sentence = "It is gone."
	}
	result, err := p.WaitFor(ctx, wait)
	if result.Immediate && !c.IsStep() { // a step expects what the one before it has done
		sentence = map[string]string{"It is there.": "It was there already.", "It is gone.": "It was gone already.",
			"It is so now.": "It was so already."}[sentence]
		if in.Text != "" && in.Target == "" {
			sentence += " With new: true, this waits for another."
		}
	}
	if result.Passed {
		sentence = "It was shown since your last answer, and is gone now."
	}
	if err := c.AnswerAction(sentence)(result.Change, err); err != nil || in.Text == "" || result.Passed || c.HasNext() {
		return err
	}
	if c.Agent.Record {
		frame, _ := p.Reader().VerifyText(ctx, in.Text) // it may have gone again
		c.SeenIn(frame)
	}
	if strings.Contains(strings.ToLower(c.Look(ctx, c.Out)), strings.ToLower(in.Text)) {
		return nil
	}
	// What it stands in, with refs. It may have gone again, or the page have paused.
	found, err := p.Reader().Find(ctx, snapshot.FindOptions{Text: in.Text, MaxMatches: shownWaited, Hide: c.Agent.Secrets.Hide})
	if err == nil && found.Matches > 0 {
		c.Out.Quote(strings.TrimSuffix(found.Text, "\n"))
		return nil
	}
	var gone *snapshot.VerifyError
	if _, err := p.Reader().VerifyText(ctx, in.Text); in.Target == "" && errors.As(err, &gone) && !gone.Invisible {
		c.Out.Quotef("But now %v.", gone)
	}
	return nil
}

// rest waits for the time that the agent requests: here a fixed time is no stopgap. An agent
// that has no browser yet gets none for it.
func rest(ctx context.Context, c *agent.Call, d time.Duration) error {
	elapsed := fmt.Sprintf("Waited %v.", d)
	if c.Agent.HasBrowser() {
		if p, err := c.Page(ctx); err == nil {
			return c.AnswerAction(elapsed)(p.Rest(ctx, d))
		}
	}
	select {
	case <-time.After(d):
		return c.Done(nil, "%s", elapsed)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shownWaited is how many places of a text are shown that was waited for.
const shownWaited = 3

// called is a script that calls a function, or the other one if the script is none.
func called(script, otherwise string) string {
	if bare := strings.TrimRight(strings.TrimSpace(script), "; \n\t"); page.LooksLikeFunction(bare) {
		return "(" + bare + ")()"
	}
	return otherwise
}
