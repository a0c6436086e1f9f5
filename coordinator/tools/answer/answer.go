// Package answer shapes the answers of tools: our own text and the page's, pictures, data
// for programs, and the parts of a long text.
package answer

import (
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page/storage"
	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/policy"
)

// Answer is a tool's result: our own text, the page's text, and sometimes an image.
type Answer struct {
	blocks   []block
	pictures []mcp.Content
	// data is the form for programs, see structured.go.
	data map[string]any
	// download is the address of a download that the action has started; empty: none.
	download string
	// secrets are hidden before a text is cut, since a cut may fall into one.
	secrets *secrets.Set
	origins *policy.Origins // content of other origins is left out
	long    *Long           // nil: the answer has no parts
}

// block is lines of one origin.
type block struct {
	text     string
	fromPage bool
	inData   bool // the structured answer has it
}

// New starts an answer that hides secrets and content of other origins, and whose
// parts come from long.
func New(hidden *secrets.Set, origins *policy.Origins, long *Long) *Answer {
	return &Answer{secrets: hidden, origins: origins, long: long}
}

// Addf adds a line of our own text.
func (a *Answer) Addf(format string, args ...any) {
	a.add(block{text: fmt.Sprintf(format, args...)})
}

// Quotef adds lines with text of a page: its author may address the agent in it.
func (a *Answer) Quotef(format string, args ...any) { a.Quote(fmt.Sprintf(format, args...)) }

// Quote is Quotef without a format.
func (a *Answer) Quote(text string) { a.add(block{text: text, fromPage: true}) }

func (a *Answer) add(b block) {
	if last := len(a.blocks) - 1; last >= 0 && a.blocks[last].fromPage == b.fromPage && a.blocks[last].inData == b.inData {
		a.blocks[last].text += "\n" + b.text
		return
	}
	a.blocks = append(a.blocks, b)
}

// Append adds the text of another answer after a lead.
func (a *Answer) Append(lead string, other *Answer) {
	for _, b := range other.blocks {
		a.add(block{text: lead + b.text, fromPage: b.fromPage})
		lead = ""
	}
}

// Begin puts a notice in front of the answer, unless it is empty.
func (a *Answer) Begin(notice string) {
	if notice == "" {
		return
	}
	a.Precede(&Answer{blocks: []block{{text: notice + "\n"}}})
}

// Precede puts another answer in front.
func (a *Answer) Precede(other *Answer) {
	rest := a.blocks
	a.blocks = other.blocks
	for _, b := range rest {
		a.add(b)
	}
}

// Picture adds an image of the page.
func (a *Answer) Picture(data []byte, format string) {
	a.pictures = append(a.pictures, &mcp.ImageContent{Data: data, MIMEType: "image/" + format, Meta: mcp.Meta{FromPage: true}})
}

// Download is the address of a download that the action has started; empty: none.
func (a *Answer) Download() string { return a.download }

// FromPage is the mark of content that holds a page's text or picture, so that a host can
// treat it as untrusted.
const FromPage = "browser-coordinator/from-page"

// Result is the result of a tool, with structured content if the tool has that.
func (a *Answer) Result(structured bool) *mcp.CallToolResult {
	a.bound()
	res := a.result()
	if structured {
		res.Meta, res.StructuredContent = a.marks(), a.structure()
	}
	return res
}

func (a *Answer) result() *mcp.CallToolResult {
	content := []mcp.Content{}
	for _, b := range a.blocks {
		text := &mcp.TextContent{Text: b.text}
		if b.fromPage {
			text.Meta = mcp.Meta{FromPage: true}
		}
		content = append(content, text)
	}
	return &mcp.CallToolResult{Content: append(content, a.pictures...)}
}

// Failure is the result of a failed call. The notice that would begin an answer follows
// the error, and then what the answer has, which came of the call before it failed.
func (a *Answer) Failure(err error, fromPage bool, notice string) *mcp.CallToolResult {
	cameOf := a.blocks
	a.blocks = []block{{text: err.Error(), fromPage: fromPage}}
	if notice != "" {
		a.add(block{text: "\n\n" + notice})
	}
	for _, b := range cameOf {
		a.add(b)
	}
	a.bound()
	a.pictures = nil
	res := a.result()
	res.Meta = a.marks()
	res.SetError(err)
	return res
}

// addressed is something of a page's history or storage. All of its addresses must be
// within the agent's origins. Of alternatives, such as a cookie's, one must be.
type addressed interface{ Addresses() []string }

// Within leaves out items of origins that the agent may not read, and counts them. A tab
// may have shown such a document before the agent worked in it. Every such item in an
// answer passes through here.
func Within[T any](o *policy.Origins, all []T) (kept []T, refused int) {
	if o == nil {
		return all, 0
	}
	for _, one := range all {
		if allowed(o, one) {
			kept = append(kept, one)
		}
	}
	return kept, len(all) - len(kept)
}

func allowed(o *policy.Origins, one any) bool {
	switch one := one.(type) {
	case storage.Cookie:
		return o.DecideCookie(one.Domain, one.Secure).Outcome == policy.Allow
	case addressed:
		for _, address := range one.Addresses() {
			if o.Decide(address).Outcome != policy.Allow {
				return false
			}
		}
		return true
	}
	return false
}

// LeftOut reports how many items Within has left out.
func (a *Answer) LeftOut(refused int, what string) {
	if text := LeftOut(refused, what); text != "" {
		a.Addf("%s", strings.TrimSpace(text))
	}
}

// LeftOut is a line about what Within has left out; empty: nothing.
func LeftOut(refused int, what string) string {
	if refused == 0 {
		return ""
	}
	return fmt.Sprintf("Left out because of --allowed-origins or --blocked-origins: %d %s.\n", refused, what)
}
