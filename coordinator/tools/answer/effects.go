package answer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/snapshot"
)

// The limits of an answer to an action: the number of messages, and the bytes of each.
const (
	maxMessages = 20
	maxMessage  = 500
	maxChanges  = 1500
)

// Effect is a failed request or a message that an answer lists. Kind is "request" or the message's level.
// Late: it followed the action before the answer's own.
type Effect struct {
	Kind, Text, Place string
	Late              bool
}

// Effects are those that the answer lists, for the user's list of what the agent has done.
func (a *Answer) Effects() []Effect { return a.effects }

// Warn adds a line that the user's list has as well.
func (a *Answer) Warn(text string) {
	a.Addf("%s", text)
	a.effects = append(a.effects, Effect{Kind: "warning", Text: text})
}

// Changed lists what an action changed, one line each. It adds nothing if nothing
// changed.
func (a *Answer) Changed(c page.Change) {
	if c.Navigated {
		a.Quotef("Page: %s\nURL: %s", c.Title, c.URL)
	}
	switch {
	case c.Loading == "" || c.Dialog != nil:
	case c.Loading != c.URL:
		a.Quotef("It is still loading %s", c.Loading)
	default:
		a.Addf("It is still loading.")
	}
	switch {
	case c.Dialog == nil:
	case c.Dialog.Type == lifecycle.PrintPreview:
		a.Addf("A print preview is open, and gets all input: " + lifecycle.EndsPreview + ".")
	case c.Dialog.Type == "beforeunload":
		a.Addf("The page asks whether to leave it (a beforeunload dialog): accept leaves it, dismiss stays. Nothing " +
			"else works in the page until it is answered with browser_handle_dialog.")
	default:
		has := ""
		if c.Dialog.Default != "" {
			has = fmt.Sprintf(" (with %q in it)", c.Dialog.Default)
		}
		a.Quotef("A JavaScript %s dialog is open: %q%s. Nothing else works in the page until it is answered with "+
			"browser_handle_dialog.", c.Dialog.Type, c.Dialog.Message, has)
	}
	if c.Chooser != nil {
		many := "one file"
		if c.Chooser.Multiple {
			many = "files"
		}
		a.Addf("The page asks for %s: give the paths with browser_file_upload.", many)
	}
	if c.Picker {
		a.Addf("The page " + input.PickerRefused + ".")
	}
	if c.Refused != nil {
		a.Quotef("A navigation was refused: %s.", c.Refused)
	}
	if c.Paused != nil {
		a.Quotef("The page is paused in the debugger, in %s. Nothing that needs it to run works until it goes on.",
			c.Paused)
	}
	a.opened(c.Tabs)
	if c.ExternalURL != "" {
		a.Quotef("The page asked to open %s in another program. The browser may ask its user first, and give the "+
			"page no input until it is answered.", c.ExternalURL)
	}
	if c.Download != "" {
		a.Quotef("A download began, and the tab stays where it is: %s", c.Download)
		a.download = c.Download
	}
	if c.NoDrop {
		a.Addf("The page did not accept a drop there: only what it moves while it is dragged has moved.")
	}
	a.replaced(c)
	for _, h := range c.Values {
		if c.Replaced && h.Now != "" {
			continue
		}
		if h.Now != "" {
			a.Quotef("%s %s: the page has changed it after it was filled.", h.Target, h.Now)
			continue
		}
		a.Quotef("%s holds %q, not what was typed.", h.Target, h.Value)
	}
	if len(c.Invalid) > 0 {
		a.Quotef("The form was not sent. %s", strings.Join(c.Invalid, " "))
	}
	if c.Disabled != nil && !c.Navigated {
		a.Quotef("The form's default button, %s, was disabled: Enter does not submit the form then.", c.Disabled)
	}
	c = saidOnce(c)
	a.requests(c)
	a.messages(c.Console[:min(len(c.Console), maxMessages)], c.URL)
	if more := len(c.Console) - maxMessages; more > 0 {
		a.Addf("%d more: browser_console_messages.", more)
	}
}

// fallback is what the browser says of a directive that its message names already.
var fallback = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(` ?Note that '[\w-]+' was not explicitly set, so '[\w-]+' is used as a fallback\.`)
})

// saidOnce is a change without what a message of the page's content security policy says as well: the
// request that it blocked, and the browser's second message for that.
func saidOnce(c page.Change) page.Change {
	const policy = "Content Security Policy"
	named := func(url string) bool {
		return slices.ContainsFunc(c.Console, func(m history.Message) bool {
			return strings.Contains(m.Text, policy+" directive") && strings.Contains(m.Text, "'"+url+"'")
		})
	}
	var messages []history.Message
	for _, m := range c.Console {
		m.Text = fallback().ReplaceAllString(m.Text, "")
		rest, again := strings.CutPrefix(m.Text, "Fetch API cannot load ")
		url, _, _ := strings.Cut(rest, ". Refused to connect because it violates the document's "+policy)
		if m.Text != "" && !(again && named(url)) {
			messages = append(messages, m)
		}
	}
	c.Failed = slices.DeleteFunc(slices.Clone(c.Failed), func(r history.Request) bool {
		return strings.Contains(r.Failed, "(csp)") && named(r.URL)
	})
	c.Console = messages
	return c
}

// replaced lists what became of what an action had typed or chosen in a document that was replaced.
func (a *Answer) replaced(c page.Change) {
	if !c.Replaced {
		return
	}
	var fields []string
	for _, h := range c.Values {
		name := h.Target
		for _, e := range c.Elements {
			if e.Target == h.Target && e.Name != "" {
				name = e.String()
			}
		}
		if h.Now != "" {
			fields = append(fields, name+" "+strings.TrimSuffix(h.Now, " again"))
		}
	}
	if len(fields) == 0 {
		a.Addf("The document was replaced during this, by a reload for example.")
		return
	}
	a.Quotef("The document was replaced during this, by a reload for example: %s.", strings.Join(fields, "; "))
}

// AddLateEffects lists what happened in a page, and what it has shown, since the answer to the last action.
// The page is at that URL now. It reports whether there was anything.
func (a *Answer) AddLateEffects(late page.LateEffects, shown snapshot.Changes, url string) bool {
	if len(late.Errors)+len(late.Failed)+len(late.Tabs.Open)+len(late.Tabs.Closed) == 0 && shown.Empty() {
		return false
	}
	if shown.Deferred {
		a.Addf("Since the last answer that showed the page:")
	} else {
		a.Addf("Since the answer to your last action:")
	}
	a.opened(late.Tabs)
	before := len(a.effects)
	a.failures(late.Failed, url)
	a.messages(late.Errors, url)
	for i := range a.effects[before:] {
		a.effects[before+i].Late = true
	}
	a.Shows(shown, false)
	return true
}

func (a *Answer) opened(tabs page.Tabs) {
	name := func(p page.Info) string {
		if strings.HasSuffix(p.URL, p.Title) { // it has no title yet
			return cmp.Or(p.URL, "about:blank")
		}
		return p.Title + " " + p.URL
	}
	for _, p := range tabs.Open {
		a.Quotef("A new tab opened: %s (tab %d)", name(p), p.Index)
	}
	for _, p := range tabs.Closed {
		a.Quotef("A new tab opened, and has closed again: %s", name(p))
	}
}

// Shows lists what the page shows since an action.
func (a *Answer) Shows(c snapshot.Changes, full bool) {
	if c.Missed > 0 {
		a.Addf("Shown for a while, before what follows: %d more texts.", c.Missed)
	}
	for _, text := range c.Notices {
		a.Quotef("Shown for a while: %q", a.secrets.Hide(text))
	}
	for _, text := range c.Shown {
		a.Quotef("Shown: %q", a.secrets.Hide(text))
	}
	for _, text := range c.Again {
		a.Quotef("Shown again: %q", a.secrets.Hide(text))
	}
	if c.Title != "" {
		a.Quotef("The page's title is now %q.", a.secrets.Hide(c.Title))
	}
	text, most := a.secrets.Hide(c.Text), maxChanges // before the cut, which may fall into a secret
	switch {
	case full:
		most = MaxPart
	case c.New:
		most = len(text)
	}
	switch {
	case text == "" && c.Whole != "" && !c.New:
		a.QuoteCut("Much of the page has changed.", c.Whole)
	case text == "" && c.Much && !c.New:
		a.Addf("Much of the page has changed: take a snapshot.")
	case text == "" && c.Unknown && !c.New:
		a.Addf("What has changed is not known: take a snapshot.")
	case text == "":
	case !c.New:
		a.Addf("Changes:")
		part := cutChanges(text, most, a.spell("browser_snapshot"))
		if !strings.Contains(part, cutMark) {
			text = ""
		}
		a.QuoteCut(strings.TrimSuffix(part, "\n"), text)
		if c.Unknown {
			a.Addf("What else has changed is not known: take a snapshot.")
		}
	case c.Whole != "":
		a.QuoteCut(text+"… and more.", c.Whole)
	default:
		a.Quote(strings.TrimSuffix(text, "\n"))
		if c.Much {
			a.Addf("… and more: browser_snapshot.")
		}
	}
}

// maxRemoved is how many lines in a row that have gone are shown: more are counted.
const maxRemoved = 2

// cutChanges cuts a diff after so many bytes; whole has all of it. New dialogs, alerts and statuses
// come first then, and are whole.
func cutChanges(text string, most int, whole string) string {
	now := freshIn(text)
	cut := cutDiff(text, most, now, whole)
	if !strings.Contains(cut, cutMark) {
		return cut
	}
	var first, rest strings.Builder
	within := -1 // the indentation of the one that the line is in
	for line := range strings.Lines(text) {
		switch {
		case within >= 0 && indentOf(line) > within:
		case urgent().MatchString(line):
			within = indentOf(line)
		default:
			within = -1
		}
		if within >= 0 {
			first.WriteString(line)
		} else {
			rest.WriteString(line)
		}
	}
	return first.String() + cutDiff(rest.String(), max(most-first.Len(), minRest), now, whole)
}

// minRest is how many bytes a diff shows at least besides what comes first.
const minRest = 300

const cutMark = "… cut here, "

// cutDiff cuts a diff after so many bytes, and counts what has gone. now is of the whole diff.
func cutDiff(text string, most int, now fresh, whole string) string {
	var lines, bodies, removed []string
	add := func(line string) { lines, bodies = append(lines, line), append(bodies, line[min(2, len(line)):]) }
	addRemoved := func() {
		if len(removed) > maxRemoved && most < MaxPart {
			removed = now.count(removed)
		}
		for _, line := range removed {
			add(line)
		}
		removed = nil
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "-") {
			removed = append(removed, line)
			continue
		}
		addRemoved()
		add(line)
	}
	addRemoved()
	shown := snapshot.Fit(bodies, most)
	if missing := len(lines) - shown; missing > 0 {
		lines = append(lines[:shown], fmt.Sprintf(cutMark+"%d more lines: %s.\n", missing, whole))
	}
	return strings.Join(lines, "")
}

// fresh is what the new lines of a diff show: their texts, and the refs in them.
type fresh struct{ texts, refs map[string]bool }

var ref = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[ref=e\d+\]`) })

func freshIn(diff string) fresh {
	f := fresh{map[string]bool{}, map[string]bool{}}
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+") {
			f.texts[strings.TrimSpace(line[1:])] = true
			for _, r := range ref().FindAllString(line, -1) {
				f.refs[r] = true
			}
		}
	}
	return f
}

// count is one line for lines in a row that have gone: how many, and the first and the last of
// them. It leaves out the elements that new lines show as they are now, with the same refs.
func (f fresh) count(lines []string) []string {
	moves := 0
	var removed []string
	for _, line := range lines {
		refs := ref().FindAllString(line, -1)
		switch {
		case len(refs) > 0 && !slices.ContainsFunc(refs, func(r string) bool { return !f.refs[r] }):
		case f.texts[strings.TrimSpace(line[1:])]:
			moves++
		default:
			removed = append(removed, line)
		}
	}
	var counts []string
	if moves > 0 {
		counts = append(counts, linesThat("moved", moves))
	}
	if len(removed) > 0 {
		names := removedNames(removed)
		if len(names) > maxRemovedNames {
			names = []string{names[0], names[1] + " … " + names[len(names)-1]}
		}
		counts = append(counts, linesThat("removed", len(removed))+": "+strings.Join(names, "; "))
	}
	if len(counts) == 0 {
		return nil
	}
	return []string{lines[0][:indentOf(lines[0])] + strings.Join(counts, ", ") + "\n"}
}

func linesThat(what string, n int) string {
	if n == 1 {
		return "1 line " + what
	}
	return fmt.Sprintf("%d lines %s", n, what)
}

// indentOf is where the text of a line of a diff begins.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line[1:], " ")) }

// maxRemovedNames is how many lines that have gone are named: of more, the first two and the last.
const maxRemovedNames = 4

// removedNames are the names of the outermost lines that have gone. What holds a list or a table is
// named by the items of that, unless it is a dialog.
func removedNames(lines []string) (names []string) {
	for i := 0; i < len(lines); {
		end := i + 1
		for end < len(lines) && indentOf(lines[end]) > indentOf(lines[i]) {
			end++
		}
		line, inner := lines[i], lines[i+1:end]
		i = end
		switch {
		case len(inner) == 0 || urgent().MatchString("+"+line[1:]):
			names = append(names, removedName(line))
		case collection().MatchString(line):
			names = append(names, removedNames(inner)...)
		case slices.ContainsFunc(inner, collection().MatchString):
			for at := range inner { // only what is in collections
				if collection().MatchString(inner[at]) {
					names = append(names, removedNames(inner[at:])...)
					break
				}
			}
		default:
			names = append(names, removedName(line))
		}
	}
	return names
}

// collection matches a line that has gone with the items below it.
var collection = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^- +- (list|table|grid|treegrid|rowgroup|listbox|tree|menu|feed)\b.*:\n$`)
})

// maxRemovedName bounds the length of a name in the count of lines that have gone.
const maxRemovedName = 60

// removedName is a line that has gone, without its ref, which is of no use.
func removedName(line string) string {
	name := strings.Join(strings.Fields(ref().ReplaceAllString(strings.TrimPrefix(line[indentOf(line):], "- "), "")),
		" ")
	if name = strings.TrimSuffix(name, ":"); len(name) > maxRemovedName {
		name = strings.ToValidUTF8(name[:maxRemovedName], "") + "…"
	}
	return name
}

var urgent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\+ +- (alert|alertdialog|dialog|status)\b`)
})

// maxRequests is how many requests an answer to an action names.
const maxRequests = 10

// requests lists the requests that failed, and those that have no response yet.
func (a *Answer) requests(c page.Change) {
	a.failures(c.Failed, c.URL)
	waiting, refused := Readable(a.origins, c.Waiting)
	a.LeftOut(refused, "requests")
	for _, r := range waiting[:min(len(waiting), maxRequests)] {
		a.Quotef("No response yet: %s", a.requestName(r, c.URL))
	}
}

// failures lists requests that failed, for a page that is at that URL.
func (a *Answer) failures(failed []history.Request, url string) {
	failed, refused := Readable(a.origins, failed)
	a.LeftOut(refused, "requests")
	for _, r := range failed[:min(len(failed), maxRequests)] {
		outcome := Reason(r)
		if r.Status != 0 {
			outcome = strings.TrimSpace(fmt.Sprint(r.Status, " ", outcome))
		}
		place := ""
		if !r.Navigation {
			place = a.elsewhere(r.Documents, url)
		}
		if r.Place != "" {
			place += " @ " + r.Place
		}
		text := a.requestName(r, url) + " → " + outcome
		a.Quotef("Request %d failed: %s%s", r.Seq, text, place)
		a.effects = append(a.effects, Effect{Kind: "request", Text: a.secrets.Hide(text), Place: a.secrets.Hide(r.Place)})
	}
	if more := len(failed) - maxRequests; more > 0 {
		a.Addf("%d more failed: browser_network_requests.", more)
	}
}

// Reason is why a request failed. The browser has only a code in parentheses for what it
// blocks itself.
func Reason(r history.Request) string {
	if code := strings.TrimSpace(r.Failed); strings.HasPrefix(code, "(") {
		return "blocked by the browser " + code
	}
	return r.Failed
}

// requestName is the method and the address of a request, without the page's origin.
func (a *Answer) requestName(r history.Request, url string) string {
	address := r.URL
	own, _ := cutOrigin(url)
	if origin, path := cutOrigin(address); own != "" && origin == own {
		address = path
	}
	return strings.TrimSpace(r.Method + " " + cutText(a.secrets.Hide(address), maxAddress))
}

const maxAddress = 200

// cutOrigin cuts a URL after its origin; empty if it has none.
func cutOrigin(url string) (origin, rest string) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return "", url
	}
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host, "/" + path
}

// elsewhere names the document that something came from, if it is not the one at that URL.
func (a *Answer) elsewhere(documents [2]string, url string) string {
	from, _, _ := strings.Cut(cmp.Or(documents[1], documents[0]), "#")
	if here, _, _ := strings.Cut(url, "#"); from == "" || from == here {
		return ""
	}
	return fmt.Sprintf(" (in %s)", cutText(a.secrets.Hide(from), maxAddress))
}

// messages lists messages of a page that is at that URL now.
func (a *Answer) messages(all []history.Message, url string) {
	all, refused := Readable(a.origins, all)
	a.LeftOut(refused, "messages")
	for _, m := range all {
		m.Text = cutText(a.secrets.Hide(m.Text), maxMessage)
		a.Quote(MessageLine(m) + a.elsewhere(m.Documents, url))
		a.effects = append(a.effects, Effect{Kind: m.Level, Text: m.Text, Place: a.secrets.Hide(MessagePlace(m))})
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
	if m.Position.Place == "" && m.Position.URL != "" && m.Position.Line > 0 {
		return fmt.Sprintf("%s:%d", m.Position.URL, m.Position.Line)
	}
	return cmp.Or(m.Position.Place, m.Position.URL)
}
