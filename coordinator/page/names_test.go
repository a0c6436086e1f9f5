package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"

	"browser-coordinator/internal/pagetest"
)

// Roles and names are those of the browser's accessibility tree, over a corpus of snippets that
// names each deliberate difference.
func TestNamesAreTheBrowsers(t *testing.T) {
	t.Parallel()
	corpus, err := os.ReadFile("testdata/names.html")
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(string(corpus), "-->\n")
	var snippets []string
	deliberate := map[string]bool{} // the browser's and ours, of a snippet
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		difference, deliberately := strings.CutPrefix(line, "~ ")
		if !deliberately {
			snippets = append(snippets, line)
			continue
		}
		combined, reason, _ := strings.Cut(difference, ": ")
		if reason == "" {
			t.Errorf("no reason: %s", line)
		}
		deliberate[fmt.Sprint(len(snippets)-1, " ", combined)] = true
	}
	if len(snippets) < 200 {
		t.Errorf("only %d snippets", len(snippets))
	}
	failed := 0
	compared := compareNames(t, snippets, func(n int, difference string) {
		key := fmt.Sprint(n, " ", difference)
		if deliberate[key] {
			delete(deliberate, key)
			return
		}
		failed++
		t.Errorf("%s\n\t~ %s", snippets[n], difference)
	})
	for key := range deliberate {
		t.Errorf("there is no such difference any longer: %s", key)
	}
	t.Logf("%d snippets, %d elements compared, %d differ", len(snippets), compared, failed)
}

// compareNames compares the roles and names of the elements in snippets with those of the browser's
// accessibility tree. It reports each difference with the snippet's number, and returns how many elements
// there were.
func compareNames(t *testing.T, snippets []string, differs func(n int, difference string)) (compared int) {
	t.Helper()
	var html strings.Builder
	html.WriteString("<!doctype html><meta charset=utf-8>")
	for i, snippet := range snippets {
		fmt.Fprintf(&html, "<div data-case=%d>%s</div>\n", i, strings.ReplaceAll(snippet, `\n`, "\n"))
	}
	p, _ := pagetest.Open(t, html.String())
	ctx := t.Context()
	// Both sides are in the order of the document.
	var ours []struct {
		Tag, Case, Role, Name string
	}
	if err := p.Frames().Run(ctx, p.Frames().Main(), `function () {
		const { roleOf, wholeName } = library.naming(), all = [];
		const walk = (n, of) => {
			for (const e of n.children) {
				const is = e.dataset?.case ?? of, role = roleOf(e);
				all.push({ tag: e.localName, case: is, role, name: wholeName(e, role) });
				if (e.shadowRoot) walk(e.shadowRoot, is);
				walk(e, is);
			}
		};
		walk(document, "");
		return JSON.stringify(all);
	}`, nil, &ours); err != nil {
		t.Fatal(err)
	}
	tree, err := protocol.Call(ctx, p.Session(), dom.GetDocument,
		dom.GetDocumentParams{Depth: new(int64(-1)), Pierce: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	var nodes []*protocol.Node
	var walk func(n *protocol.Node)
	walk = func(n *protocol.Node) {
		if n.NodeType == 1 {
			nodes = append(nodes, n)
		}
		for _, root := range n.ShadowRoots {
			if root.ShadowRootType != protocol.ShadowRootTypeUserAgent {
				walk(root)
			}
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(tree.Root)
	if len(nodes) != len(ours) {
		t.Fatalf("%d elements, but we see %d", len(nodes), len(ours))
	}
	full, err := protocol.Call(ctx, p.Session(), accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[protocol.BackendNodeID]*accessibility.Node{}
	for _, n := range full.Nodes {
		if !n.Ignored {
			theirs[n.BackendDOMNodeID] = n
		}
	}
	for i, n := range nodes {
		ax, is := theirs[n.BackendNodeID], ours[i]
		if is.Tag != n.LocalName {
			t.Fatalf("%s and %s", n.LocalName, is.Tag)
		}
		if ax == nil || is.Case == "" || ax.Role == nil {
			continue
		}
		role, name := roleInOurWords(axText(ax.Role), is.Role), strings.Join(strings.Fields(axText(ax.Name)), " ")
		if unnamed[role] {
			role, name = "generic", ""
		}
		if unnamed[is.Role] {
			is.Role, is.Name = "generic", ""
		}
		if role == "generic" && is.Role == "generic" {
			continue
		}
		compared++
		if role == is.Role && name == is.Name {
			continue
		}
		var number int
		fmt.Sscan(is.Case, &number)
		differs(number, fmt.Sprintf("%s %q = %s %q", role, name, is.Role, is.Name))
	}
	return compared
}

func axText(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var text string
	_ = json.Unmarshal(v.Value, &text) // others are no texts
	return text
}

// unnamed are the roles that a snapshot does not show, or only with a name that the page gives.
var unnamed = map[string]bool{
	"generic": true, "none": true, "paragraph": true, "rowgroup": true, "term": true, "definition": true,
	"superscript": true, "code": true, "Abbr": true, "mark": true,
	"listitem": true, "row": true, "deletion": true, "insertion": true, "blockquote": true,
}

// roleInOurWords is the role of ARIA, or our own, for one of the browser's.
func roleInOurWords(role, inputType string) string {
	// It tells them apart no further.
	if role == "DateTime" && (inputType == "month" || inputType == "week" || inputType == "datetime-local") {
		return inputType
	}
	if ours, ok := axRoles[role]; ok {
		return ours
	}
	return role
}

var axRoles = map[string]string{
	"image": "img", "SvgRoot": "img", "gridcell": "cell", "DisclosureTriangle": "summary", "Iframe": "iframe",
	"Canvas": "canvas",
	"Video":  "video", "Audio": "audio", "Date": "date", "InputTime": "time", "ColorWell": "color", "MathMLMath": "math",
	"LayoutTable": "generic", "LayoutTableRow": "generic", "LayoutTableCell": "generic", // a snapshot shows no table then
	"LabelText": "generic", "LineBreak": "generic", "Legend": "generic", "Figcaption": "generic", "Ruby": "generic",
	"time":          "generic",
	"sectionheader": "generic", "sectionfooter": "generic", "DescriptionList": "generic", "caption": "generic",
	"code":        "generic",
	"superscript": "generic", "subscript": "generic", "MathMLNumber": "generic", "MathMLFraction": "generic",
	"emphasis": "generic", "strong": "generic",
}
