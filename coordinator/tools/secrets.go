package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Secrets are values that no agent sees: where an answer would hold one, it holds
// its name, and where an agent gives the name as a text to type, the value is
// typed.
type Secrets struct {
	values map[string]string // by name
	forms  atomic.Pointer[[]secretForm]
	mu     sync.Mutex // held while forms is replaced
}

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
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if n := utf8.RuneCountInString(values[name]); n > 0 && n < shortestSecret {
			return nil, fmt.Errorf("secrets %s: the value of %s has fewer than %d characters: every word that holds them would be hidden. Leave it out", file, name, shortestSecret)
		}
	}
	return NewSecrets(values), nil
}

// shortestSecret is how many characters a value has at least: a shorter one is part
// of any text.
const shortestSecret = 3

// NewSecrets makes secrets of values by name. Empty values are none.
func NewSecrets(values map[string]string) *Secrets {
	s := &Secrets{values: map[string]string{}}
	for name, value := range values {
		if value == "" {
			continue
		}
		s.values[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(s.values)) {
		s.add(name, s.values[name])
	}
	return s
}

func (s *Secrets) add(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var forms []secretForm
	if now := s.forms.Load(); now != nil {
		forms = *now
	}
	forms = slices.Concat(forms, formsOf(name, value))
	s.forms.Store(&forms)
}

// learn hides what a field has made of a secret that was typed into it: with a
// maximum length or a mask it holds another text, which the page may show anywhere.
func (s *Secrets) learn(name, value string) {
	if s == nil || s.values[name] == "" || s.values[name] == value || utf8.RuneCountInString(value) < shortestSecret || s.hide(value) != value {
		return
	}
	s.add(name, value)
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
	forms := s.forms.Load()
	if forms == nil || text == "" {
		return text
	}
	return hideForms(text, *forms)
}

// hideCut is hide for a text that was cut at its end, perhaps in the middle of a
// value.
func (s *Secrets) hideCut(text string) string {
	if s == nil {
		return text
	}
	return strings.TrimSuffix(s.hide(text+cutMark), cutMark)
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

// hideData hides in whatever is sent as JSON: in its texts and names, and a number
// that holds a value becomes a text.
func (s *Secrets) hideData(data any) any {
	if data == nil {
		return nil
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return data // it will not be sent either
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var decoded any
	if decoder.Decode(&decoded) != nil {
		return data
	}
	hidden, changed := s.hideValue(decoded)
	if !changed {
		return data
	}
	return hidden
}

func (s *Secrets) hideValue(value any) (hidden any, changed bool) {
	switch v := value.(type) {
	case string:
		text := s.hide(v)
		return text, text != v
	case json.Number:
		if text := s.hide(v.String()); text != v.String() {
			return text, true
		}
	case []any:
		for i := range v {
			item, other := s.hideValue(v[i])
			v[i], changed = item, changed || other
		}
	case map[string]any:
		for key, item := range v {
			item, other := s.hideValue(item)
			if name := s.hide(key); name != key {
				delete(v, key)
				key, other = name, true
			}
			v[key], changed = item, changed || other
		}
	}
	return value, changed
}
