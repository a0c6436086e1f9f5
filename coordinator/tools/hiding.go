package tools

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools/secrets"
)

// hiding is the middleware that hides values in responses and notifications, whichever tool,
// resource or prompt they come from.
func hiding(s *secrets.Set) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch params := req.GetParams().(type) {
			//lint:ignore SA1019 hosts that show a server's log will do so for years
			case *mcp.LoggingMessageParams: // what we send
				params.Data = s.HideData(params.Data)
			case *mcp.ProgressNotificationParams:
				params.Message = s.Hide(params.Message)
			}
			result, err := next(ctx, method, req)
			if err != nil {
				if hidden := s.Hide(err.Error()); hidden != err.Error() {
					err = errors.New(hidden)
				}
				return result, err
			}
			switch r := result.(type) {
			case *mcp.CallToolResult:
				for _, c := range r.Content {
					hideContent(s, c)
				}
				r.StructuredContent = s.HideData(r.StructuredContent)
			case *mcp.ReadResourceResult:
				for _, c := range r.Contents {
					c.Text = s.Hide(c.Text)
				}
			case *mcp.GetPromptResult:
				for _, m := range r.Messages {
					hideContent(s, m.Content)
				}
			}
			return result, nil
		}
	}
}

func hideContent(s *secrets.Set, c mcp.Content) {
	switch c := c.(type) {
	case *mcp.TextContent:
		c.Text = s.Hide(c.Text)
	case *mcp.EmbeddedResource:
		if c.Resource != nil {
			c.Resource.Text = s.Hide(c.Resource.Text)
		}
	}
}
