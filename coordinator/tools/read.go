package tools

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page/snapshot"
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
	add(s, &mcp.Tool{Name: "browser_find", Description: "Find text in the page, with refs", Annotations: saves("Find")}, find)
	add(s, &mcp.Tool{Name: "browser_markdown", Description: "The readable page, or a target, as Markdown", Annotations: saves("Read")}, markdown)
	add(s, &mcp.Tool{Name: "browser_dom", Description: "HTML of the page or a target, as it is now", Annotations: saves("HTML")}, html)
}

func find(ctx context.Context, a *agent, in findIn) (*answer, error) {
	file, err := a.outputFile(ctx, in.Filename, output.Outline)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	options := snapshot.FindOptions{Text: in.Text, Regexp: in.Regex, Skip: (max(in.Page, 1) - 1) * snapshot.MaxFound, Hide: a.server.options.Secrets.Hide}
	if in.Filename != "" {
		options.Skip, options.Most = 0, math.MaxInt
	}
	found, err := p.Reader().Find(ctx, options)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	pages := (found.Matches + snapshot.MaxFound - 1) / snapshot.MaxFound
	switch {
	case found.Matches == 0:
		out.addf("Nothing in the page matches.")
		return out, nil
	case options.Skip >= found.Matches:
		return nil, fmt.Errorf("there are only %d matches: page %d is the last", found.Matches, pages)
	case pages > 1 && in.Filename == "":
		out.addf("Matches %d to %d of %d, page %d of %d:", options.Skip+1, min(options.Skip+snapshot.MaxFound, found.Matches), found.Matches, max(in.Page, 1), pages)
	}
	return out, a.textOrFile(out, file, "matches", strings.TrimSuffix(found.Text, "\n"))
}

func markdown(ctx context.Context, a *agent, in markdownIn) (*answer, error) {
	file, err := a.outputFile(ctx, in.Filename, output.Markdown)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("Markdown of %q", in.Target)
	out := a.begin()
	if rest, ok := a.restOf(what, in.partIn); ok {
		return out, a.part(out, in.partIn, nil, what, rest)
	}
	read, err := p.Reader().Markdown(ctx, in.Target)
	if err != nil {
		return nil, err
	}
	if in.Filename == "" {
		out.quotef("Page: %s\nURL: %s\n", read.Title, read.URL)
	}
	return out, a.part(out, in.partIn, file, what, read.Text)
}

func html(ctx context.Context, a *agent, in domIn) (*answer, error) {
	file, err := a.outputFile(ctx, in.Filename, output.HTML)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("HTML of %q", in.Target)
	out := a.begin()
	if rest, ok := a.restOf(what, in.partIn); ok {
		return out, a.part(out, in.partIn, nil, what, rest)
	}
	text, err := p.Reader().HTML(ctx, in.Target)
	if err != nil {
		return nil, err
	}
	return out, a.part(out, in.partIn, file, what, text)
}
