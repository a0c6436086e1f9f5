package tools

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/policy"
)

// resource is something of the session's page that a host can show or attach without a
// tool call.
type resource struct {
	uri, name, description, mime string
	read                         func(context.Context, *agent.Call, *mcp.ResourceContents) error
}

const screenshotURI = "browser://screenshot"

var resources = []resource{
	{screenshotURI, "screenshot", "The latest screenshot of this session, or one of now", "image/png", readShot},
	{"browser://console", "console", "The console of the page that this session works in", "text/plain", readConsole},
	{"browser://network", "network", "The network requests of the page that this session works in", "text/plain", readNetwork},
}

func (s *Server) addResources() {
	for _, r := range resources {
		s.mcp.AddResource(&mcp.Resource{URI: r.uri, Name: r.name, Description: r.description, MIMEType: r.mime},
			func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return readResource(ctx, s.agentOf(req.Session), r)
			})
	}
}

// readResource takes the same path as a read-only tool: an agent that the user has
// stopped reads nothing.
func readResource(ctx context.Context, a *agent.Agent, r resource) (*mcp.ReadResourceResult, error) {
	content := &mcp.ResourceContents{URI: r.uri, MIMEType: r.mime, Meta: mcp.Meta{answer.FromPage: true}}
	name := "read " + r.uri
	c := &agent.Call{Agent: a, Request: agent.Request{Operation: policy.Operation{Name: name, Class: policy.ReadOnly}}, Out: a.NewAnswer()}
	err := c.Run(ctx, func(ctx context.Context) error { return r.read(ctx, c, content) })
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
}

// keepShot keeps a picture that an answer could hold. A larger one is in a file; the
// resource is then a new picture.
func keepShot(c *agent.Call, image capture.Image) {
	c.Shot.Store(nil)
	if max(image.Width, image.Height) <= maxImage && len(image.Data) <= maxPicture {
		c.Shot.Store(&image)
	}
}

func readShot(ctx context.Context, c *agent.Call, content *mcp.ResourceContents) error {
	shot := c.Shot.Load()
	if shot == nil {
		p, err := c.Page(ctx)
		if err != nil {
			return err
		}
		image, err := p.Screen().Screenshot(ctx, capture.Options{MaxWidth: maxImage, MaxHeight: maxImage})
		if err == nil {
			_, err = image.Fit(maxPicture)
		}
		if err != nil {
			return err
		}
		shot = &image
	}
	content.Blob, content.MIMEType = shot.Data, "image/"+shot.Format
	return nil
}

func readConsole(ctx context.Context, c *agent.Call, content *mcp.ResourceContents) error {
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	messages, refused := consoleOf(ctx, c, p, "debug", true)
	content.Text = answer.LeftOut(refused, "messages") + c.Out.Latest(consoleText(messages), "The console is empty.", "browser_console_messages")
	return nil
}

func readNetwork(ctx context.Context, c *agent.Call, content *mcp.ResourceContents) error {
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	requests, refused := answer.Within(c.Origins, p.History().Network.Requests(ctx))
	_, all := describeRequests(requests, func(history.Request) bool { return true })
	content.Text = answer.LeftOut(refused, "requests") + c.Out.Latest(all, "No request was made.", "browser_network_requests")
	return nil
}

// The prompts are typical requests of a user, with the steps for each.
func (s *Server) addPrompts() {
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "debug_page", Title: "Debug this page", Description: "Find out what is wrong with the page in the browser, and why",
		Arguments: []*mcp.PromptArgument{{Name: "problem", Description: "What is wrong, in words"}},
	}, debugPrompt)
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "review_change", Title: "Review this change in the browser", Description: "Try the last change of the code in the browser, and present a review",
		Arguments: []*mcp.PromptArgument{{Name: "change", Description: "What was changed; default: the uncommitted changes"}, {Name: "url", Description: "Where it can be seen"}},
	}, reviewPrompt)
}

func debugPrompt(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	problem := "Something is wrong with the page."
	if p := req.Params.Arguments["problem"]; p != "" {
		problem = "The problem: " + p
	}
	return prompt("Debug this page", `Debug the page that is open in the browser of this workspace's VS Code window. %s

1. Look: browser_snapshot, browser_console_messages (level warning), browser_network_requests. They know what happened before you came; places in errors are files and lines of this workspace.
2. Make it happen again with as few actions as possible, and read the answer of each.
3. Find the cause in the code. Where reading is not enough, set a breakpoint (debug_breakpoints), act, and look at debug_state and debug_evaluate; then let the program go on (debug_step) and remove your breakpoints.
4. Say the cause with file and line, and what shows it. Show it to the user with reveal_source. Change the code only if that was asked for; then try again in the browser that the problem is gone.`, problem)
}

func reviewPrompt(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	change, where := "the uncommitted changes of this workspace", "the page that is open"
	if c := req.Params.Arguments["change"]; c != "" {
		change = c
	}
	if u := req.Params.Arguments["url"]; u != "" {
		where = u
	}
	return prompt("Review this change in the browser", `Review %s in the browser of this workspace's VS Code window, at %s.

1. Read the change, and write down what a user should see now, and what must still work.
2. Try each in the browser: browser_navigate, browser_snapshot, then real actions (browser_click, browser_type, …). Try what is wrong on purpose too: empty, long, twice, back.
3. After each step read what the answer says; look at browser_console_messages and browser_network_requests for errors that nobody sees. Compare other sizes (browser_emulate) where the layout changed.
4. Present the review with present_review: what you tried, what works, what does not with the steps to see it, and the file and line of each finding as a link. Say what you did not try. Propose a fix as a diff block: the user can apply it. Call with wait for the verdict, and do what the comments ask.`, change, where)
}

func prompt(description, format string, args ...any) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{
		Description: description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: fmt.Sprintf(format, args...)}}},
	}, nil
}
