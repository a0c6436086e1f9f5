package secrets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Middleware hides values in responses and notifications, whichever tool, resource or
// prompt they come from.
func (s *Set) Middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch params := req.GetParams().(type) {
		//lint:ignore SA1019 hosts that show a server's log will do so for years
		case *mcp.LoggingMessageParams: // what we send
			params.Data = s.hideData(params.Data)
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
				s.hideContent(c)
			}
			r.StructuredContent = s.hideData(r.StructuredContent)
		case *mcp.ReadResourceResult:
			for _, c := range r.Contents {
				c.Text = s.Hide(c.Text)
			}
		case *mcp.GetPromptResult:
			for _, m := range r.Messages {
				s.hideContent(m.Content)
			}
		}
		return result, nil
	}
}

func (s *Set) hideContent(c mcp.Content) {
	switch c := c.(type) {
	case *mcp.TextContent:
		c.Text = s.Hide(c.Text)
	case *mcp.EmbeddedResource:
		if c.Resource != nil {
			c.Resource.Text = s.Hide(c.Resource.Text)
		}
	}
}

// hideData hides values in data that is sent as JSON: in its texts and names. A number
// that holds a value becomes a text.
func (s *Set) hideData(data any) any {
	if data == nil {
		return nil
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return data // it cannot be sent either
	}
	var hidden bytes.Buffer // in which two names may be one
	decoder := jsontext.NewDecoder(bytes.NewReader(encoded), jsontext.AllowDuplicateNames(true))
	encoder := jsontext.NewEncoder(&hidden, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return json.RawMessage(hidden.Bytes())
		}
		if kind := token.Kind(); err == nil && (kind == '"' || kind == '0') {
			if text := s.Hide(token.String()); text != token.String() {
				token = jsontext.String(text)
			}
		}
		if err != nil || encoder.WriteToken(token) != nil {
			return nil // nested too deeply: what cannot be searched is not sent
		}
	}
}
