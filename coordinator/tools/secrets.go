package tools

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	escape "html"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Secrets are values that no agent sees: where an answer would hold one, it holds
// its name, and where an agent gives the name as a text to type, the value is
// typed.
type Secrets struct {
	values map[string]string // by name
	// replacements are the forms that values take in answers; longer ones first,
	// since one value may hold another.
	replacements []replacement
}

type replacement struct{ form, by string }

// LoadSecrets reads a file of lines NAME=VALUE, as dotenv files have them:
// comments, "export", and quotes around values.
func LoadSecrets(file string) (*Secrets, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	values, err := parseDotenv(data)
	if err != nil {
		return nil, fmt.Errorf("secrets %s: %w", file, err)
	}
	return NewSecrets(values), nil
}

// NewSecrets makes secrets of values by name. Empty values are none.
func NewSecrets(values map[string]string) *Secrets {
	s := &Secrets{values: map[string]string{}}
	for name, value := range values {
		if value == "" {
			continue
		}
		s.values[name] = value
		seen := map[string]bool{}
		for _, form := range []string{
			value, inJSON(value), escape.EscapeString(value),
			url.QueryEscape(value), url.PathEscape(value), percent(value, componentMarks), percent(value, queryMarks),
		} {
			if !seen[form] {
				seen[form] = true
				s.replacements = append(s.replacements, replacement{form, "<secret>" + name + "</secret>"})
			}
		}
	}
	slices.SortFunc(s.replacements, func(a, b replacement) int {
		return cmp.Or(len(b.form)-len(a.form), strings.Compare(a.form, b.form), strings.Compare(a.by, b.by))
	})
	return s
}

// What JavaScript's encodeURIComponent leaves, and what a browser leaves in the
// query of an address (URL Standard, query percent-encode set), besides letters
// and digits.
const (
	componentMarks = "-_.!~*'()"
	queryMarks     = componentMarks + "$%&+,/:;=?@[\\]^`{|}"
)

func percent(text, marks string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || strings.IndexByte(marks, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// inJSON is a text as it stands in a JSON string.
func inJSON(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return text
	}
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

var nameOf = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*(.*)$`)

func parseDotenv(data []byte) (map[string]string, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := nameOf.FindStringSubmatch(line)
		if m == nil {
			// The line itself may be a secret.
			return nil, fmt.Errorf("line %d: want NAME=VALUE", n)
		}
		value, err := dotenvValue(m[2])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		values[m[1]] = value
	}
	return values, lines.Err()
}

// dotenvValue takes off quotes: in double ones \n, \" and \\ are escapes, in
// single ones nothing is. Without quotes a # after a space begins a comment.
func dotenvValue(text string) (string, error) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		text, _, _ = strings.Cut(text, " #")
		return strings.TrimSpace(text), nil
	}
	quote := text[0]
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return b.String(), nil
		case c == '\\' && quote == '"' && i+1 < len(text):
			i++
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("a quote is not closed")
}

// value is what is typed for a text: the secret that it names, or else itself.
func (s *Secrets) value(text string) string {
	if s == nil {
		return text
	}
	if value, ok := s.values[text]; ok {
		return value
	}
	return text
}

// hide replaces the values in a text by their names.
func (s *Secrets) hide(text string) string {
	if s == nil {
		return text
	}
	for _, r := range s.replacements {
		text = strings.ReplaceAll(text, r.form, r.by)
	}
	return text
}

// hideIn is middleware for what is answered and what is told: whatever tool,
// resource or prompt it comes from, no value leaves.
func (s *Secrets) hideIn(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch params := req.GetParams().(type) {
		//lint:ignore SA1019 hosts that show a server's log will do so for years
		case *mcp.LoggingMessageParams: // what we send
			params.Data = s.hideData(params.Data)
		case *mcp.ProgressNotificationParams:
			params.Message = s.hide(params.Message)
		}
		result, err := next(ctx, method, req)
		if err != nil {
			if hidden := s.hide(err.Error()); hidden != err.Error() {
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
				c.Text = s.hide(c.Text)
			}
		case *mcp.GetPromptResult:
			for _, m := range r.Messages {
				s.hideContent(m.Content)
			}
		}
		return result, nil
	}
}

func (s *Secrets) hideContent(c mcp.Content) {
	switch c := c.(type) {
	case *mcp.TextContent:
		c.Text = s.hide(c.Text)
	case *mcp.EmbeddedResource:
		if c.Resource != nil {
			c.Resource.Text = s.hide(c.Resource.Text)
		}
	}
}

// hideData hides in whatever is sent as JSON.
func (s *Secrets) hideData(data any) any {
	if data == nil {
		return nil
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return data // it will not be sent either
	}
	hidden := s.hide(string(encoded))
	if hidden == string(encoded) {
		return data
	}
	return json.RawMessage(hidden)
}
