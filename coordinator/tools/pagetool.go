package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/webmcp"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/policy"
)

type pageToolIn struct {
	Name   string         `json:"name,omitempty" about:"without it the page's tools are listed" is:"subject"`
	Params map[string]any `json:"params,omitempty" about:"arguments of the tool"`
	answer.Paged
	inPage
}

var _ = define(Tool{
	Name: "browser_page_tool", Title: "Page tool",
	Description: "Call a tool that the page itself offers to agents (WebMCP), or list them",
	Set:         "devtools", Difference: "theirs are two",
	Effect: Acts, Category: policy.Script, Traits: agent.Traits{AnyFrame: true},
	ReadOnly: "without `name`",
	Shell:    []command{{Name: "page-tool", Args: "[name]"}},
	Replaces: map[string]string{"browser_webmcp_list": "without name", "browser_webmcp_call": "with name"},
	Returns: "what the tool returned, or that its form is filled in, then what changed; without `name` each tool " +
		"with its description and schema",
	Notes: "A snapshot names the tools that the page or its frames offer by " +
		"[WebMCP](https://webmachinelearning.github.io/webmcp/). Their names, descriptions and results are the " +
		"page's own words. Each is an action, also where the page says that it only reads. A form is filled in, " +
		"and submitted only if the page says so.\n\n" +
		"Chromium 156 has WebMCP in an origin trial: a browser that the coordinator has not started needs " +
		"`--enable-features=WebMCPTesting`.",
	Example: `{"name": "add_to_cart", "params": {"item": "Tea"}}`,
}, calls[pageToolIn]{
	ReadOnlyIf: func(in pageToolIn) bool { return in.Name == "" },
	Question: func(in pageToolIn, _ []string) string {
		arguments, _ := json.Marshal(in.Params) // it was JSON
		return "Call the page's own tool " + agent.Quoted(in.Name) + " with " + string(arguments)
	},
	Do: callPageTool,
})

func callPageTool(ctx context.Context, c *agent.Call, in pageToolIn) error {
	p, file, err := c.PageAndFile(ctx, in.Filename, output.Text)
	if err != nil {
		return err
	}
	what := "page tool " + in.Name + " of " + p.ID()
	if c.Out.Further(in.Paged, what) {
		return nil
	}
	if in.Name == "" {
		all := p.Tools().List()
		if len(all) == 0 {
			c.Out.Addf("The page offers no tools.")
			return nil
		}
		return c.Out.Text(in.Paged, file, what, pageTools(all))
	}
	if in.Page > 1 { // the tool is not called again
		return errors.New("there is no such part of a result: call without page first")
	}
	var arguments json.RawMessage
	if in.Params != nil {
		if arguments, err = json.Marshal(in.Params); err != nil {
			return err
		}
	}
	outcome, change, err := p.CallTool(ctx, in.Name, arguments)
	if err != nil {
		return err
	}
	switch {
	case outcome.Filled:
		c.Out.Quotef("The page's tool %q has filled in its form, which is not submitted.", in.Name)
	case outcome.Output != nil:
		err = c.Out.Text(in.Paged, file, what, string(outcome.Output))
	case change.Dialog != nil || change.Paused != nil:
		c.Out.Addf("The tool has not ended.")
	default:
		c.Out.Addf("The page went on to another document before the tool had ended.")
	}
	c.Changed(change)
	return err
}

// pageTools has an entry for each tool.
func pageTools(all []webmcp.Tool) string {
	var b report
	for _, t := range all {
		b.add("- %s: %s", policy.Excerpt(t.Name, longestName), t.Description)
		if t.Input != nil {
			b.add("    arguments: %s", t.Input)
		}
	}
	return b.String()
}

const (
	longestName  = 100 // bytes of the name of a page's tool
	longestNames = 300 // of those of its parameters
	longestOffer = 600 // of a snapshot's line, after which no tool is added
)

// offered is a snapshot's line about the tools of a page; empty: it has none.
func offered(p *page.Page) string {
	all := p.Tools().List()
	var tools []string
	size := 0
	for i, t := range all {
		if size >= longestOffer {
			tools = append(tools, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		tools = append(tools, fmt.Sprintf("%s(%s)", policy.Excerpt(t.Name, longestName),
			policy.Excerpt(t.Parameters, longestNames)))
		size += len(tools[i])
	}
	return strings.Join(tools, ", ")
}
