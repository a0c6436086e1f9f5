package answer

import (
	"cmp"
	"fmt"
	"strings"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/history"
)

// The limits of an answer to an action: the number of messages, and the bytes of each.
const (
	maxMessages = 20
	maxMessage  = 500
)

// Changed lists what an action changed, one line each. It adds nothing if nothing
// changed.
func (a *Answer) Changed(c page.Change) {
	if c.Navigated {
		a.Quotef("Page: %s\nURL: %s", c.Title, c.URL)
	}
	switch {
	case !c.Loading || c.Dialog != nil:
	case c.Leaves != "":
		a.Quotef("It is still loading %s", c.Leaves)
	default:
		a.Addf("It is still loading.")
	}
	switch {
	case c.Dialog == nil:
	case c.Dialog.Type == "beforeunload":
		a.Addf("The page asks whether to leave it (a beforeunload dialog): accept leaves it, dismiss stays. Nothing else works in the page until it is answered.")
	default:
		a.Quotef("A JavaScript %s dialog is open: %q. Nothing else works in the page until it is answered.", c.Dialog.Type, c.Dialog.Message)
	}
	if c.Chooser != nil {
		many := "one file"
		if c.Chooser.Multiple {
			many = "files"
		}
		a.Addf("The page asks for %s: give the paths with browser_file_upload.", many)
	}
	if c.Refused != nil {
		a.Quotef("A navigation was refused: %s.", c.Refused)
	}
	if c.Paused != nil {
		a.Quotef("The page is paused in the debugger, in %s. Nothing that needs it to run works until it goes on.", c.Paused)
	}
	for _, p := range c.NewPages {
		title := p.Title + " "
		if strings.HasSuffix(p.URL, p.Title) { // it has none yet
			title = ""
		}
		a.Quotef("A new tab opened: %s%s", title, p.URL)
	}
	if c.Download != "" {
		a.Quotef("A download began, and the tab stays where it is: %s", c.Download)
		a.download = c.Download
	}
	for _, h := range c.Held {
		a.Quotef("%s holds %q, not what was typed.", h.Target, h.Value)
	}
	if len(c.Unmet) > 0 {
		a.Quotef("The form was not sent. %s", strings.Join(c.Unmet, " "))
	}
	a.messages(c.Console[:min(len(c.Console), maxMessages)])
	if more := len(c.Console) - maxMessages; more > 0 {
		a.Addf("%d more: browser_console_messages.", more)
	}
	if len(c.Earlier) > 0 {
		a.Addf("Not caught since your last action:")
		a.messages(c.Earlier)
	}
}

func (a *Answer) messages(all []history.Message) {
	all, refused := Within(a.origins, all)
	a.LeftOut(refused, "messages")
	for _, m := range all {
		m.Text = cutText(a.secrets.Hide(m.Text), maxMessage)
		a.Quote(MessageLine(m))
	}
}

// MessageLine is a message of a page's console.
func MessageLine(m history.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] %s", m.Level, m.Text)
	if place := MessagePlace(m); place != "" {
		fmt.Fprintf(&b, " @ %s", place)
	}
	if m.Count > 1 {
		fmt.Fprintf(&b, " (×%d)", m.Count)
	}
	return b.String()
}

// MessagePlace is where a message came from; empty where that is unknown.
func MessagePlace(m history.Message) string {
	if m.Place == "" && m.URL != "" && m.Line > 0 {
		return fmt.Sprintf("%s:%d", m.URL, m.Line)
	}
	return cmp.Or(m.Place, m.URL)
}
