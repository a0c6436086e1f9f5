package tools

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
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
	{"browser://network", "network", "The network requests of the page that this session works in", "text/plain",
		readNetwork},
}

func (s *Server) addResources() {
	for _, r := range resources {
		s.mcp.AddResource(&mcp.Resource{URI: r.uri, Name: r.name, Description: r.description, MIMEType: r.mime},
			func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				a, _ := s.sessionOf(req.Session)
				return readResource(ctx, a, r)
			})
	}
}

// readResource takes the same path as a read-only tool: an agent that the user has
// stopped reads nothing.
func readResource(ctx context.Context, a *agent.Agent, r resource) (*mcp.ReadResourceResult, error) {
	content := &mcp.ResourceContents{URI: r.uri, MIMEType: r.mime, Meta: markOf(true)}
	err := a.Read(ctx, "read "+r.uri, func(ctx context.Context, c *agent.Call) error { return r.read(ctx, c, content) })
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
}

// keepShot keeps a picture that an answer could hold. A larger one is in a file; the
// resource is then a new picture.
func keepShot(c *agent.Call, image capture.Image) {
	c.Agent.Shot.Store(nil)
	if max(image.Width, image.Height) <= maxImage && len(image.Data) <= maxPicture {
		c.Agent.Shot.Store(&image)
	}
}

func readShot(ctx context.Context, c *agent.Call, content *mcp.ResourceContents) error {
	shot := c.Agent.Shot.Load()
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
	content.Text = answer.LeftOut(refused, "messages") +
		c.Out.Latest(consoleText(messages), "The console is empty.", "browser_console_messages")
	return nil
}

func readNetwork(ctx context.Context, c *agent.Call, content *mcp.ResourceContents) error {
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	requests, refused := answer.Readable(c.Agent.Origins, p.History().Network.Requests(ctx))
	_, all := describeRequests(requests, func(history.Request) bool { return true })
	content.Text = answer.LeftOut(refused, "requests") +
		c.Out.Latest(all, "No request was made.", "browser_network_requests")
	return nil
}

// The prompts are typical requests of a user, with the steps for each.
var (
	//go:embed prompts/debug_page.md
	debugPage string
	//go:embed prompts/review_change.md
	reviewChange string
)

func (s *Server) addPrompts() {
	s.addPrompt(&mcp.Prompt{
		Name: "debug_page", Title: "Debug this page",
		Description: "Find out what is wrong with the page in the browser, and why",
		Arguments:   []*mcp.PromptArgument{{Name: "problem", Description: "What is wrong, in words"}},
	}, func(values map[string]string) string {
		problem := "Something is wrong with the page."
		if p := values["problem"]; p != "" {
			problem = "The problem: " + p
		}
		return fmt.Sprintf(debugPage, problem)
	})
	s.addPrompt(&mcp.Prompt{
		Name: "review_change", Title: "Review this change in the browser",
		Description: "Try the last change of the code in the browser, and present a review",
		Arguments: []*mcp.PromptArgument{
			{Name: "change", Description: "What was changed; default: the uncommitted changes"},
			{Name: "url", Description: "Where it can be seen"},
		},
	}, func(values map[string]string) string {
		change := cmp.Or(values["change"], "the uncommitted changes of this workspace")
		return fmt.Sprintf(reviewChange, change, cmp.Or(values["url"], "the page that is open"))
	})
}

// addPrompt adds a prompt, whose text is made of the arguments that are given.
func (s *Server) addPrompt(p *mcp.Prompt, text func(values map[string]string) string) {
	s.mcp.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		content := &mcp.TextContent{Text: strings.TrimSpace(text(req.Params.Arguments))}
		return &mcp.GetPromptResult{
			Description: p.Title, Messages: []*mcp.PromptMessage{{Role: "user", Content: content}},
		}, nil
	})
}
