package tools

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/policy"
)

type findIn struct {
	Text  string `json:"text,omitempty"`
	Regex string `json:"regex,omitempty"`
	// Scroll searches also what lists and feeds show only when they are scrolled.
	Scroll bool `json:"scroll,omitempty" about:"through lists and feeds until found"`
	answer.Paged
	inPage
}

var _ = define(Tool{
	Name: "browser_find", Title: "Find", Description: "Find text in the page, with refs",
	Effect: Adjusts, Category: policy.Input,
	ReadOnly: "without `scroll`",
	Shell:    []command{{Args: "[text]"}},
	Returns: "the matching lines of a snapshot with their parents, the heading above, and the item around each: a " +
		"list item, an article, a card, a table row with the table's heads",
	Notes: "`text` ignores case. A regular expression, of any tool, is RE2 or `/pattern/flags`. The search covers " +
		"texts, names, values, addresses, and the hints of elements without a name; not roles, states and refs. " +
		"Each cell of a grid has a ref.\n\n" +
		"`scroll` also searches what a list draws, or a feed loads, only when it is scrolled, for at most 40 s; the " +
		"next call goes on from there. What was found is scrolled into view.",
	Example: `{"text": "Coupon"}`,
}, calls[findIn]{
	ReadOnlyIf: func(in findIn) bool { return !in.Scroll },
	Do:         find,
})

type markdownIn struct {
	Target string `json:"target,omitempty" is:"subject"`
	answer.Paged
	inPage
}

var _ = define(Tool{
	Name: "browser_markdown", Title: "Read", Description: "The readable page, or target, as Markdown",
	Difference: "theirs has only the snapshot to read a page",
	Effect:     Reads,
	Shell:      []command{{Name: "read", Args: "[target]"}},
	Returns: "the main element, or the only article if that has the page's heading or most of its text, without " +
		"navigation, asides and footers",
	Example: `{}`,
}, calls[markdownIn]{Do: markdown})

type domIn = markdownIn

var _ = define(Tool{
	Name: "browser_dom", Title: "HTML", Description: "HTML of the page or target, as it is now",
	Difference: "theirs run code of their own for it",
	Effect:     Reads,
	Shell:      []command{{Name: "html", Args: "[target]"}},
	Notes:      "Shadow roots are declarative templates.",
	Example:    `{"target": "main"}`,
}, calls[domIn]{Do: html})

func find(ctx context.Context, c *agent.Call, in findIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Outline)
	if err != nil {
		return err
	}
	options := snapshot.FindOptions{Text: in.Text, Regexp: in.Regex, Skip: (max(in.Page, 1) - 1) * snapshot.MaxFound,
		Hide: c.Agent.Secrets.Hide}
	whole := in.Filename != "" || c.Agent.Whole
	if whole {
		options.Skip, options.MaxMatches = 0, math.MaxInt
	}
	var found snapshot.FindResult
	none := "Nothing in the page matches. Texts, names and values are searched, not roles and states."
	if in.Scroll {
		var scrolled snapshot.Scrolled
		found, scrolled, err = p.Reader().FindScrolling(ctx, options)
		c.Out.Shows(scrolled.Changes, false)
		if err == nil {
			none = notFound(scrolled)
		}
		switch {
		case scrolled.Vanished:
			c.Out.Addf("This was in the page while it was scrolled, and the page does not show it now:")
		case err == nil && found.Matches > 0 && scrolled.Steps == 0:
			c.Out.Addf("Found without scrolling:")
		}
	} else {
		found, err = p.Reader().Find(ctx, options)
	}
	if err != nil {
		return err
	}
	pages := (found.Matches + snapshot.MaxFound - 1) / snapshot.MaxFound
	switch {
	case found.Matches == 0:
		c.Out.Misses()
		if target := roleAndName().FindStringSubmatch(in.Text); target != nil {
			none += fmt.Sprintf(" This text looks like a target: search for its name alone, %s.", target[1])
		}
		c.Out.Addf("%s", none)
		return nil
	case options.Skip >= found.Matches:
		return fmt.Errorf("there are only %d matches: page %d is the last", found.Matches, pages)
	case pages > 1 && !whole:
		c.Out.Addf("Matches %d to %d of %d, page %d of %d:", options.Skip+1,
			min(options.Skip+snapshot.MaxFound, found.Matches), found.Matches, max(in.Page, 1), pages)
	}
	if strings.Contains(found.Text, "[aria-hidden]") {
		c.Out.Addf("What is below [aria-hidden] is hidden from assistive technology, and in no snapshot: use the " +
			"refs here, or text=….")
	}
	return c.Out.TextOrFile(file, "matches", strings.TrimSuffix(found.Text, "\n"))
}

// roleAndName is a target that an agent may mistake for a text: heading "Walnut desk lamp".
var roleAndName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*[a-z]+ +"(.+)"`) })

// notFound is the answer of a search with scrolling that has found nothing.
func notFound(s snapshot.Scrolled) string {
	unloaded := ""
	if s.Unloaded > 0 {
		unloaded = fmt.Sprintf(" The search left parts that were still loading (%d): it may be there.", s.Unloaded)
	}
	if s.All {
		if !s.Repeated {
			unloaded += " There was no time to search a second time, for rows that load late."
		}
		return fmt.Sprintf("Nothing matches, in %d steps of scrolling to the end.%s", s.Steps, unloaded)
	}
	location := fmt.Sprintf("at %.0f of %.0f pixels", s.Y, s.Height)
	if s.Lists > 1 {
		location += fmt.Sprintf(" of list %d of %d", s.List, s.Lists)
	}
	return fmt.Sprintf("Nothing matches so far: time was up after %.0f s and %d steps of scrolling, %s.%s There is "+
		"more: call again to go on from there.", s.Took.Seconds(), s.Steps, location, unloaded)
}

func markdown(ctx context.Context, c *agent.Call, in markdownIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Markdown)
	if err != nil {
		return err
	}
	description := fmt.Sprintf("Markdown of %q", in.Target)
	if c.Out.Further(in.Paged, description) {
		return nil
	}
	read, err := p.Reader().Markdown(ctx, in.Target)
	if err != nil {
		return err
	}
	if in.Filename == "" {
		c.Out.Quotef("Page: %s\nURL: %s\n", read.Title, read.URL)
	}
	return c.Out.Text(in.Paged, file, description, read.Text)
}

func html(ctx context.Context, c *agent.Call, in domIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.HTML)
	if err != nil {
		return err
	}
	description := fmt.Sprintf("HTML of %q", in.Target)
	if c.Out.Further(in.Paged, description) {
		return nil
	}
	text, err := p.Reader().HTML(ctx, in.Target)
	if err != nil {
		return err
	}
	return c.Out.Text(in.Paged, file, description, text)
}
