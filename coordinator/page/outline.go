package page

import (
	"strings"
)

// item is one line of a snapshot.
type item struct {
	role, name string
	attributes []string
	ref        string
	text       string // value, or the text that the element begins with
	kids       []*item
}

// outliner turns accessibility trees into items; Page.mu is held.
type outliner struct {
	page *Page
	urls bool
}

const (
	textRole = "text"
	// maxName and maxText bound what one line may hold; more is in the page's text.
	maxName = 200
	maxText = 1000
	// maxOptions bounds the line that lists a <select>'s options.
	maxOptions = 300
)

// silent roles only group what is below them.
var silent = map[string]bool{
	"generic": true, "none": true, "presentation": true, "GenericContainer": true, "Section": true,
	"LabelText": true, "InlineTextBox": true, "RootWebArea": true, "group": true, "rowgroup": true,
	"paragraph": true, "LayoutTable": true, "LayoutTableRow": true, "LayoutTableCell": true,
	"strong": true, "emphasis": true, "code": true, "mark": true, "time": true, "superscript": true,
	"subscript": true, "deletion": true, "insertion": true, "Abbr": true, "Ruby": true, "figure": true,
	"sectionheader": true, "sectionfooter": true, "SectionWithoutName": true, "EmbeddedObject": true,
	"Pre": true, "article": true, "DescriptionList": true, "DescriptionListDetail": true, "DescriptionListTerm": true,
	"associationlist": true, "associationlistitemkey": true, "associationlistitemvalue": true,
	"FooterAsNonLandmark": true, "HeaderAsNonLandmark": true, "Legend": true, "Figcaption": true, "caption": true,
	"Details": true, "disclosuretriangleGroup": true, "rubyannotation": true, "blockquote": true, "definition": true, "term": true,
}

// block roles end the text before and after them.
var block = map[string]bool{
	"paragraph": true, "listitem": true, "article": true, "blockquote": true, "Section": true, "Pre": true,
	"LayoutTableCell": true, "DescriptionListDetail": true, "DescriptionListTerm": true, "term": true, "definition": true,
	"figure": true, "Figcaption": true, "caption": true, "generic": true, "group": true, "Legend": true,
}

// actionable roles get a ref even when the page forgot to make them focusable.
var actionable = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "combobox": true, "listbox": true,
	"checkbox": true, "radio": true, "switch": true, "slider": true, "spinbutton": true, "tab": true,
	"menuitem": true, "menuitemcheckbox": true, "menuitemradio": true, "treeitem": true, "option": true,
	"DisclosureTriangle": true, "Date": true, "DateTime": true, "InputTime": true, "ColorWell": true,
	"PopUpButton": true, "ToggleButton": true, "Canvas": true, "Video": true, "Audio": true,
}

// renamed maps Chromium's own roles to those of ARIA or HTML.
var renamed = map[string]string{
	"image": "img", "Iframe": "iframe", "IframePresentational": "iframe", "DisclosureTriangle": "summary",
	"Date": "date", "DateTime": "datetime", "InputTime": "time", "ColorWell": "color", "PopUpButton": "button",
	"ToggleButton": "button", "Canvas": "canvas", "Video": "video", "Audio": "audio", "gridcell": "cell",
	"SvgRoot": "img", "ContentDeletion": "deletion",
}

// valued roles show their value and hide what is inside of them.
var valued = map[string]bool{
	"textbox": true, "searchbox": true, "slider": true, "spinbutton": true, "progressbar": true, "meter": true,
	"scrollbar": true, "Date": true, "DateTime": true, "InputTime": true, "ColorWell": true,
}

func (b *outliner) outline(t *axTree, n *axNode) []*item {
	role := n.Role.text()
	switch role {
	case "StaticText":
		return textItem(n.Name.text())
	case "InlineTextBox", "ListMarker":
		return nil
	case "LineBreak":
		return textItem(" ")
	}
	facts := readFacts(n)
	if n.Ignored || silent[role] && !facts.focusable && (n.Name.text() == "" || role != "group") {
		return b.children(t, n)
	}
	return b.element(t, n, role, facts)
}

func textItem(s string) []*item {
	if s == "" {
		return nil
	}
	return []*item{{role: textRole, text: s}}
}

// children outlines what is below a node; texts that stand side by side become
// one.
func (b *outliner) children(t *axTree, n *axNode) []*item {
	var items []*item
	for _, id := range n.ChildIDs {
		child := t.nodes[id]
		if child == nil {
			continue
		}
		if sub := t.children[child.Backend]; sub != nil && sub.root != nil && child.Backend != 0 {
			items = append(items, b.frame(sub, child))
			continue
		}
		inner := b.outline(t, child)
		apart := block[child.Role.text()] && !child.Ignored
		items = merge(items, inner, apart)
	}
	return items
}

func (b *outliner) frame(sub *axTree, owner *axNode) *item {
	it := &item{role: "iframe", name: limit(squash(owner.Name.text()), maxName)}
	it.kids = tidy(b.outline(sub, sub.root))
	return it
}

// merge appends items; a text joins the text before it unless a block is
// between them. The joint keeps the spaces that the texts have.
func merge(items, more []*item, apart bool) []*item {
	for i, it := range more {
		last := len(items) - 1
		if it.role == textRole && last >= 0 && items[last].role == textRole {
			joint := ""
			if apart && i == 0 {
				joint = " "
			}
			items[last] = &item{role: textRole, text: items[last].text + joint + it.text}
			continue
		}
		items = append(items, it)
	}
	return items
}

// tidy makes one line of each text and drops the empty ones.
func tidy(items []*item) []*item {
	kept := items[:0:0]
	for _, it := range items {
		if it.role == textRole {
			if it.text = limit(squash(it.text), maxText); it.text == "" {
				continue
			}
		}
		kept = append(kept, it)
	}
	return kept
}

func (b *outliner) element(t *axTree, n *axNode, role string, facts axFacts) []*item {
	it := &item{role: role, name: limit(squash(n.Name.text()), maxName), attributes: facts.attributes}
	if r := renamed[role]; r != "" {
		it.role = r
	}
	if facts.focusable || actionable[role] {
		it.ref = b.ref(t, n, it)
	}
	if b.urls && role == "link" && facts.url != "" {
		it.attributes = append(it.attributes, "url="+limit(facts.url, maxName))
	}
	switch {
	case valued[role]:
		it.text = limit(squash(n.Value.text()), maxText)
		return []*item{it}
	case role == "combobox" || role == "listbox":
		return b.choice(t, n, it)
	case role == "row":
		return b.row(t, n, it)
	}
	kids := tidy(b.children(t, n))
	if it.name != "" {
		kids = withoutEcho(kids, it.name)
	}
	if it.role == "img" && it.name == "" && it.ref == "" && len(kids) == 0 {
		return nil
	}
	if it.ref == "" && it.name == "" && len(it.attributes) == 0 {
		switch {
		case len(kids) == 0:
			return nil
		case role == "listitem" && len(kids) == 1 && kids[0].role != textRole:
			return kids
		}
	}
	it.begin(kids)
	return []*item{it}
}

// begin puts the text that an element begins with on its own line.
func (it *item) begin(kids []*item) {
	if len(kids) > 0 && kids[0].role == textRole && it.text == "" && onlyText(kids[1:]) == 0 {
		it.text, kids = kids[0].text, kids[1:]
	}
	it.kids = kids
}

func onlyText(items []*item) int {
	n := 0
	for _, it := range items {
		if it.role == textRole {
			n++
		}
	}
	return n
}

// withoutEcho drops texts that the name has said already.
func withoutEcho(kids []*item, name string) []*item {
	kept := kids[:0:0]
	for _, k := range kids {
		if k.role == textRole && strings.Contains(name, strings.TrimSuffix(k.text, "…")) {
			continue
		}
		if k.role == "img" && k.ref == "" && len(k.kids) == 0 && strings.Contains(name, k.name) {
			continue
		}
		kept = append(kept, k)
	}
	return kept
}

// choice shows a combobox or listbox: what is chosen; of a <select>, the options
// in one line, since SelectOption takes their labels.
func (b *outliner) choice(t *axTree, n *axNode, it *item) []*item {
	it.text = limit(squash(n.Value.text()), maxText)
	var labels, chosen []string
	native := it.role == "combobox"
	var walk func(n *axNode)
	walk = func(n *axNode) {
		for _, id := range n.ChildIDs {
			c := t.nodes[id]
			if c == nil {
				continue
			}
			switch role := c.Role.text(); {
			case role == "option" || role == "MenuListOption":
				labels = append(labels, squash(c.Name.text()))
				if readFacts(c).selected {
					chosen = append(chosen, squash(c.Name.text()))
				}
			case role == "MenuListPopup" || role == "group" || c.Ignored:
				walk(c)
			default:
				native = false
			}
		}
	}
	walk(n)
	if !native || len(labels) == 0 {
		it.kids = withoutEcho(tidy(b.children(t, n)), it.name+" "+it.text)
		return []*item{it}
	}
	if it.text == "" {
		it.text = limit(strings.Join(chosen, ", "), maxText)
	}
	it.kids = []*item{{role: "options", text: limit(strings.Join(labels, " | "), maxOptions)}}
	return []*item{it}
}

// row shows the texts of its cells in one line.
func (b *outliner) row(t *axTree, n *axNode, it *item) []*item {
	var cells []string
	it.name = ""
	for _, k := range tidy(b.children(t, n)) {
		switch k.role {
		case "cell", "columnheader", "rowheader":
			if k.ref == "" {
				text := k.name
				if k.text != "" && !strings.Contains(text, k.text) {
					text = strings.TrimSpace(text + " " + k.text)
				}
				if len(k.kids) > 0 {
					text = k.text
				}
				if text != "" || len(k.kids) == 0 {
					cells = append(cells, text)
				}
				it.kids = append(it.kids, k.kids...)
				continue
			}
		}
		it.kids = append(it.kids, k)
	}
	it.text = limit(strings.TrimSpace(strings.Join(cells, " | ")), maxText)
	if it.text == "" && len(it.kids) == 0 {
		return nil
	}
	return []*item{it}
}

func (b *outliner) ref(t *axTree, n *axNode, it *item) string {
	if n.Backend == 0 {
		return ""
	}
	label := it.role
	if it.name != "" {
		label += " " + quote(it.name)
	}
	return b.page.refs.ref(nodeKey{t.frame, n.Backend}, label)
}

// axFacts are the properties of a node that a snapshot shows.
type axFacts struct {
	focusable, selected bool
	url                 string
	attributes          []string
}

func readFacts(n *axNode) axFacts {
	var f axFacts
	add := func(s string) { f.attributes = append(f.attributes, s) }
	for _, p := range n.Properties {
		value := p.Value.text()
		on := value == "true"
		switch p.Name {
		case "focusable":
			f.focusable = on
		case "focused":
			if on {
				add("active")
			}
		case "url":
			f.url = value
		case "checked", "pressed":
			if on {
				add(p.Name)
			} else if value == "mixed" {
				add(p.Name + "=mixed")
			}
		case "selected":
			if f.selected = on; on {
				add("selected")
			}
		case "expanded":
			if on {
				add("expanded")
			} else {
				add("collapsed")
			}
		case "disabled", "required", "readonly", "modal", "busy":
			if on {
				add(p.Name)
			}
		case "invalid":
			if value != "" && value != "false" {
				add("invalid")
			}
		case "level":
			add("level=" + value)
		}
	}
	return f
}

// limit cuts a text at a rune, and says so.
func limit(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if i > n {
			return s[:i] + "…"
		}
	}
	return s
}
