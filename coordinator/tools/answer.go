package tools

import (
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
)

// answer is what a tool says: lines of text, and an image perhaps.
type answer struct {
	lines []string
	image []byte
	mime  string
}

func (a *answer) addf(format string, args ...any) {
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

func (a *answer) result() *mcp.CallToolResult {
	var content []mcp.Content
	if len(a.lines) > 0 {
		content = append(content, &mcp.TextContent{Text: strings.Join(a.lines, "\n")})
	}
	if a.image != nil {
		content = append(content, &mcp.ImageContent{Data: a.image, MIMEType: a.mime})
	}
	return &mcp.CallToolResult{Content: content}
}

// begin starts an answer, with the word that this is a browser of our own.
func (a *agent) begin() *answer {
	out := &answer{}
	if word := a.firstWord(); word != "" {
		out.lines = append(out.lines, word, "")
	}
	return out
}

// did shapes the answer of an act: the sentence, and what the act changed.
func (a *agent) did(sentence string) func(page.Change, error) (*answer, error) {
	return func(c page.Change, err error) (*answer, error) {
		if err != nil {
			return nil, err
		}
		out := a.begin()
		out.addf("%s", sentence)
		out.changed(c)
		return out, nil
	}
}

// changed says what an act changed, a line each, and nothing where nothing did.
func (a *answer) changed(c page.Change) {
	if c.Navigated {
		a.addf("Page: %s\nURL: %s", c.Title, c.URL)
	}
	if c.Loading {
		a.addf("It is still loading.")
	}
	if c.Dialog != nil {
		a.addf("A JavaScript %s dialog is open: %q. Nothing else works in the page until it is answered.", c.Dialog.Type, c.Dialog.Message)
	}
	if c.Paused != nil {
		a.addf("The page is paused in the debugger, in %s. Nothing that needs it to run works until it goes on.", c.Paused)
	}
	for _, p := range c.NewPages {
		a.addf("A new tab opened: %s %s", p.Title, p.URL)
	}
	if c.Download != "" {
		a.addf("A download began: %s", c.Download)
	}
	for _, m := range c.Console {
		a.addf("%s", consoleLine(m))
	}
}

func consoleLine(m page.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] %s", m.Level, m.Text)
	if m.URL != "" {
		fmt.Fprintf(&b, " @ %s", m.URL)
		if m.Line > 0 {
			fmt.Fprintf(&b, ":%d", m.Line)
		}
	}
	if m.Count > 1 {
		fmt.Fprintf(&b, " (×%d)", m.Count)
	}
	return b.String()
}

// explain adds what an agent can do about an error that does not say so itself.
func explain(err error) error {
	if errors.Is(err, page.ErrBrowserGone) {
		return fmt.Errorf("%w: its debug session ended or it was closed. Call again to use the window's next browser", err)
	}
	return err
}
