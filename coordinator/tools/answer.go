package tools

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/policy"
)

// answer is a tool's result: our own text, the page's text, and sometimes an image.
type answer struct {
	blocks []block
	image  []byte
	mime   string
	// structured is the form for programs, see structured.go.
	structured map[string]any
	// download is the address of a download that the action has started; empty: none.
	download string
	// secrets are hidden before a text is cut, since a cut may fall into one.
	secrets *secrets.Set
	origins *policy.Origins // content of other origins is left out
}

// block is lines of one origin.
type block struct {
	text     string
	fromPage bool
	told     bool // the structured answer has it
}

// addf adds a line of our own text.
func (a *answer) addf(format string, args ...any) { a.add(fmt.Sprintf(format, args...), false) }

// quote adds lines with text of a page: its author may address the agent in it.
func (a *answer) quote(text string) { a.add(text, true) }

func (a *answer) quotef(format string, args ...any) { a.quote(fmt.Sprintf(format, args...)) }

func (a *answer) add(text string, fromPage bool) {
	a.addBlock(block{text: text, fromPage: fromPage})
}

func (a *answer) addBlock(b block) {
	if last := len(a.blocks) - 1; last >= 0 && a.blocks[last].fromPage == b.fromPage && a.blocks[last].told == b.told {
		a.blocks[last].text += "\n" + b.text
		return
	}
	a.blocks = append(a.blocks, b)
}

// fromPage is the mark of content that holds a page's text or picture, so that a
// host can treat it as untrusted.
const fromPage = "browser-coordinator/from-page"

func (a *answer) result() *mcp.CallToolResult {
	content := []mcp.Content{}
	for _, b := range a.blocks {
		text := &mcp.TextContent{Text: b.text}
		if b.fromPage {
			text.Meta = mcp.Meta{fromPage: true}
		}
		content = append(content, text)
	}
	if a.image != nil {
		content = append(content, &mcp.ImageContent{Data: a.image, MIMEType: a.mime, Meta: mcp.Meta{fromPage: true}})
	}
	return &mcp.CallToolResult{Content: content}
}

// begin starts an answer, with the notice that the browser is our own.
func (a *agent) begin() *answer {
	out := &answer{secrets: a.server.options.Secrets, origins: a.server.options.Origins}
	if word := a.firstWord(); word != "" {
		out.addf("%s\n", word)
	}
	return out
}

// failure is the answer to a failed call. The notices that begin an answer follow the
// error.
func (a *agent) failure(err error, fromPage bool) *mcp.CallToolResult {
	out := &answer{}
	out.add(err.Error(), fromPage)
	if word := a.firstWord(); word != "" {
		out.addBlock(block{text: "\n\n" + word})
	}
	res := out.result()
	res.Meta = out.marks()
	res.SetError(err)
	return res
}

// ofPage reports whether an error may quote a page: a dialog's text, the options of a
// list, an exception of a script, the name of an element or a tab. Only errors from
// before the page is resolved cannot.
func ofPage(err error) bool {
	var (
		refused  *policy.DeniedError
		noWindow *registry.SelectionError
		none     *noBrowserError
		unmade   *connectError
	)
	return !errors.As(err, &refused) && !errors.As(err, &noWindow) && !errors.As(err, &none) && !errors.As(err, &unmade)
}

// did builds the answer to an action: the sentence, and what the action changed.
func (a *agent) did(sentence string) func(page.Change, error) (*answer, error) {
	return func(c page.Change, err error) (*answer, error) {
		if err != nil {
			return nil, err
		}
		a.adopt(c.NewPages)
		out := a.begin()
		out.addf("%s", sentence)
		out.changed(c)
		return out, nil
	}
}

// adopt records tabs that the agent's action has opened as the agent's own, so that it
// may close them.
func (a *agent) adopt(pages []page.Info) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range pages {
		if a.last != nil {
			a.last.opened[p.ID] = true
		}
	}
}

// changed lists what an action changed, one line each. It adds nothing if nothing
// changed.
func (a *answer) changed(c page.Change) {
	if c.Navigated {
		a.quotef("Page: %s\nURL: %s", c.Title, c.URL)
	}
	switch {
	case !c.Loading || c.Dialog != nil:
	case c.Leaves != "":
		a.quotef("It is still loading %s", c.Leaves)
	default:
		a.addf("It is still loading.")
	}
	switch {
	case c.Dialog == nil:
	case c.Dialog.Type == "beforeunload":
		a.addf("The page asks whether to leave it (a beforeunload dialog): accept leaves it, dismiss stays. Nothing else works in the page until it is answered.")
	default:
		a.quotef("A JavaScript %s dialog is open: %q. Nothing else works in the page until it is answered.", c.Dialog.Type, c.Dialog.Message)
	}
	if c.Chooser != nil {
		many := "one file"
		if c.Chooser.Multiple {
			many = "files"
		}
		a.addf("The page asks for %s: give the paths with browser_file_upload.", many)
	}
	if c.Refused != nil {
		a.quotef("A navigation was refused: %s.", c.Refused)
	}
	if c.Paused != nil {
		a.quotef("The page is paused in the debugger, in %s. Nothing that needs it to run works until it goes on.", c.Paused)
	}
	for _, p := range c.NewPages {
		title := p.Title + " "
		if strings.HasSuffix(p.URL, p.Title) { // it has none yet
			title = ""
		}
		a.quotef("A new tab opened: %s%s", title, p.URL)
	}
	if c.Download != "" {
		a.quotef("A download began, and the tab stays where it is: %s", c.Download)
		a.download = c.Download
	}
	for _, h := range c.Held {
		a.quotef("%s holds %q, not what was typed.", h.Target, h.Value)
	}
	if len(c.Unmet) > 0 {
		a.quotef("The form was not sent. %s", strings.Join(c.Unmet, " "))
	}
	a.messages(c.Console[:min(len(c.Console), maxMessages)])
	if more := len(c.Console) - maxMessages; more > 0 {
		a.addf("%d more: browser_console_messages.", more)
	}
	if len(c.Earlier) > 0 {
		a.addf("Not caught since your last act:")
		a.messages(c.Earlier)
	}
}

func (a *answer) messages(all []history.Message) {
	all, refused := within(a.origins, all)
	a.leftOut(refused, "messages")
	for _, m := range all {
		m.Text = cutText(a.secrets.Hide(m.Text), maxMessage)
		a.quote(consoleLine(m))
	}
}

// The limits of an answer to an action: the number of messages, and the bytes of each.
const (
	maxMessages = 20
	maxMessage  = 500
)

func consoleLine(m history.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] %s", m.Level, m.Text)
	if place := messagePlace(m); place != "" {
		fmt.Fprintf(&b, " @ %s", place)
	}
	if m.Count > 1 {
		fmt.Fprintf(&b, " (×%d)", m.Count)
	}
	return b.String()
}

// messagePlace is where a message came from; empty where that is unknown.
func messagePlace(m history.Message) string {
	if m.Place == "" && m.URL != "" && m.Line > 0 {
		return fmt.Sprintf("%s:%d", m.URL, m.Line)
	}
	return cmp.Or(m.Place, m.URL)
}

// explain adds the agent's next step to an error that does not have one.
func explain(err error) error {
	switch {
	case errors.Is(err, page.ErrBrowserGone) && errors.Is(err, page.ErrUnsent):
		return fmt.Errorf("%w: its debug session ended or it was closed; nothing was done. Call again to use the window's next browser", err)
	case errors.Is(err, page.ErrBrowserGone):
		return fmt.Errorf("%w during the call: its debug session ended or it was closed, and what was asked may have been done. Look at the window's next browser before you call again", err)
	}
	return err
}
