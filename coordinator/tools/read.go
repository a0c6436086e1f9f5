package tools

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
)

type findIn struct {
	Text  string `json:"text,omitempty"`
	Regex string `json:"regex,omitempty"`
	partIn
	inWindow
}

type markdownIn struct {
	Target string `json:"target,omitempty"`
	partIn
	inWindow
}

type domIn = markdownIn

func (s *Server) addReadTools() {
	add(s, &mcp.Tool{Name: "browser_find", Description: "Find text in the page, with refs", Annotations: reads("Find")}, find)
	add(s, &mcp.Tool{Name: "browser_markdown", Description: "The readable page, or a target, as Markdown", Annotations: reads("Read")}, markdown)
	add(s, &mcp.Tool{Name: "browser_dom", Description: "HTML of the page or a target, as it is now", Annotations: reads("HTML")}, html)
}

func find(ctx context.Context, a *agent, in findIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	found, err := p.Find(ctx, page.FindOptions{Text: in.Text, Regexp: in.Regex})
	if err != nil {
		return nil, err
	}
	out := a.begin()
	switch shown := min(found.Matches, page.MaxFound); {
	case found.Matches == 0:
		out.addf("Nothing in the page matches.")
		return out, nil
	case shown < found.Matches:
		out.addf("The first %d of %d matches:", shown, found.Matches)
	}
	return out, a.part(ctx, out, in.partIn, "matches of "+in.Text+" "+in.Regex, found.Text)
}

func markdown(ctx context.Context, a *agent, in markdownIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("Markdown of %q", in.Target)
	out := a.begin()
	if rest, ok := a.restOf(what, in.partIn); ok {
		return out, a.part(ctx, out, in.partIn, what, rest)
	}
	read, err := p.Markdown(ctx, in.Target)
	if err != nil {
		return nil, err
	}
	if in.Filename == "" {
		out.quotef("Page: %s\nURL: %s\n", read.Title, read.URL)
	}
	return out, a.part(ctx, out, in.partIn, what, read.Text)
}

func html(ctx context.Context, a *agent, in domIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("HTML of %q", in.Target)
	out := a.begin()
	if rest, ok := a.restOf(what, in.partIn); ok {
		return out, a.part(ctx, out, in.partIn, what, rest)
	}
	text, err := p.HTML(ctx, in.Target)
	if err != nil {
		return nil, err
	}
	return out, a.part(ctx, out, in.partIn, what, text)
}
