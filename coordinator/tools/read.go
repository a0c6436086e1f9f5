package tools

import (
	"context"
	"fmt"
	"math"
	"strings"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
)

type findIn struct {
	Text  string `json:"text,omitempty"`
	Regex string `json:"regex,omitempty"`
	// Scroll searches also what lists and feeds show only when they are scrolled.
	Scroll bool `json:"scroll,omitempty" jsonschema:"through lists and feeds until found"`
	answer.Paged
	inPage
}

type markdownIn struct {
	Target string `json:"target,omitempty"`
	answer.Paged
	inPage
}

type domIn = markdownIn

func (s *Server) addReadTools() {
	add(s, saves("browser_find", "Find", "Find text in the page, with refs"), find)
	add(s, saves("browser_markdown", "Read", "The readable page, or target, as Markdown"), markdown)
	add(s, saves("browser_dom", "HTML", "HTML of the page or target, as it is now"), html)
}

func find(ctx context.Context, c *agent.Call, in findIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Outline)
	if err != nil {
		return err
	}
	options := snapshot.FindOptions{Text: in.Text, Regexp: in.Regex, Skip: (max(in.Page, 1) - 1) * snapshot.MaxFound, Hide: c.Secrets.Hide}
	if in.Filename != "" {
		options.Skip, options.Most = 0, math.MaxInt
	}
	var found snapshot.Found
	none := "Nothing in the page matches. Texts, names and values are searched, not roles and states."
	if in.Scroll {
		var scrolled snapshot.Scrolled
		found, scrolled, err = p.Reader().FindScrolling(ctx, options)
		c.Out.Shows(scrolled.Changes, false)
		if err == nil {
			none = notFound(scrolled)
		}
		if scrolled.Gone {
			c.Out.Addf("This was in the page while it was scrolled, and the page does not show it now:")
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
		c.Out.Addf("%s", none)
		return nil
	case options.Skip >= found.Matches:
		return fmt.Errorf("there are only %d matches: page %d is the last", found.Matches, pages)
	case pages > 1 && in.Filename == "":
		c.Out.Addf("Matches %d to %d of %d, page %d of %d:", options.Skip+1, min(options.Skip+snapshot.MaxFound, found.Matches), found.Matches, max(in.Page, 1), pages)
	}
	if strings.Contains(found.Text, "[aria-hidden]") {
		c.Out.Addf("What is below [aria-hidden] is hidden from assistive technology, and in no snapshot: use the refs here, or text=….")
	}
	return c.Out.TextOrFile(file, "matches", strings.TrimSuffix(found.Text, "\n"))
}

// notFound is the answer of a search with scrolling that has found nothing.
func notFound(s snapshot.Scrolled) string {
	unloaded := ""
	if s.Unloaded > 0 {
		unloaded = fmt.Sprintf(" The search left parts that were still loading (%d): it may be there.", s.Unloaded)
	}
	if s.All {
		if !s.Again {
			unloaded += " There was no time to search a second time, for rows that load late."
		}
		return fmt.Sprintf("Nothing matches, in %d steps of scrolling to the end.%s", s.Steps, unloaded)
	}
	at := fmt.Sprintf("at %.0f of %.0f pixels", s.Y, s.Height)
	if s.Lists > 1 {
		at += fmt.Sprintf(" of list %d of %d", s.List, s.Lists)
	}
	return fmt.Sprintf("Nothing matches so far: time was up after %.0f s and %d steps of scrolling, %s.%s There is more: call again to go on from there.", s.Took.Seconds(), s.Steps, at, unloaded)
}

func markdown(ctx context.Context, c *agent.Call, in markdownIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Markdown)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("Markdown of %q", in.Target)
	if c.Out.Further(in.Paged, what) {
		return nil
	}
	read, err := p.Reader().Markdown(ctx, in.Target)
	if err != nil {
		return err
	}
	if in.Filename == "" {
		c.Out.Quotef("Page: %s\nURL: %s\n", read.Title, read.URL)
	}
	return c.Out.Text(in.Paged, file, what, read.Text)
}

func html(ctx context.Context, c *agent.Call, in domIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.HTML)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("HTML of %q", in.Target)
	if c.Out.Further(in.Paged, what) {
		return nil
	}
	text, err := p.Reader().HTML(ctx, in.Target)
	if err != nil {
		return err
	}
	return c.Out.Text(in.Paged, file, what, text)
}
