package tools

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"browser-coordinator/coordinator/tools/catalog"
)

// TestReference: the reference of the tools is what the tools are. UPDATE_REFERENCE=1
// writes it.
func TestReference(t *testing.T) {
	const file = "../../docs/tools.md"
	want := reference()
	if os.Getenv("UPDATE_REFERENCE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(text), "\n")); diff != "" {
		t.Errorf("docs/tools.md is not what the tools are: run UPDATE_REFERENCE=1 go test ./coordinator/tools -run "+
			"TestReference: %s", diff)
	}
}

const referenceBegin = `# The tools

<!-- Generated from the tools in coordinator/tools: see TestReference there. -->

These are the tools that ` + "`coordinator mcp`" + ` offers to agents. Names and parameters are those of Playwright MCP where the same thing exists there. [The specification](../specs/mcp-tools.md) has what they share: [targets](../specs/mcp-tools.md#targets), [snapshots](../specs/mcp-tools.md#snapshots), [actions and their results](../specs/mcp-tools.md#actions), [files](../specs/mcp-tools.md#files), and what the user allows.

Of these parameters, a tool has those that its entry names after *also*:

- ` + "`window`" + ` (string): [another window](../specs/mcp-tools.md#which-window) than yours, by its folder or an address of ` + "`window_list`" + `
- ` + "`tab`" + ` (integer): [another tab](../specs/mcp-tools.md#which-page) than yours, by the index that ` + "`browser_tabs`" + ` has
- ` + "`changes`" + ` (string): how much of what has changed the result shows: ` + "`none`, `short` (default) or `full`" + `
- ` + "`page`" + ` (integer): which part of a long result, from 1
- ` + "`filename`" + ` (string): the result goes to [a new file](../specs/mcp-tools.md#files)

A tool *reads*, *shows* the user something, *adjusts* what can be undone, or *acts*. In ` + "`view`" + ` mode only tools and calls that read or show are allowed; in ` + "`ask`" + ` mode the user is asked before the others. A *kind* of action can be allowed for a session.

The tools ` + "`debug_…`, `reveal_source` and `present_review`" + ` are [commands of the window](../specs/window-protocol/commands.md). They need a VS Code window with the extension, and the user sees their effect in the editor.

`

var effectNames = map[Effect]string{Reads: "reads", Shows: "shows", Adjusts: "adjusts", Acts: "acts"}

func reference() string {
	var b strings.Builder
	b.WriteString(referenceBegin)
	section := func(title, about, set string) {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", title, about)
		for _, t := range All() {
			if t.Set == set {
				b.WriteString(t.reference())
			}
		}
	}
	section("Always on", "These tools are listed from the first message.", "")
	for _, c := range Caps {
		section(c.Name, fmt.Sprintf("With `--caps %s`: %s.", c.Name, c.What), c.Name)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// reference is the entry of a tool.
func (t *Tool) reference() string {
	var b strings.Builder
	effect := "It " + effectNames[t.Effect]
	if t.ReadOnly != "" {
		effect += "; " + t.ReadOnly + " it only reads"
	}
	if t.Category != "" {
		effect += fmt.Sprintf(". Kind: %s", t.Category)
	}
	fmt.Fprintf(&b, "### %s\n\n%s. %s.\n\n", t.Name, t.Description, effect)
	var rows, also []string
	for _, p := range t.Parameters.Members {
		switch {
		case p.Is(catalog.Unlisted):
		case slices.Contains(general, p.Name) && !p.Required:
			also = append(also, "`"+p.Name+"`")
		default:
			rows = append(rows, row("", p)...)
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(&b, "%s\n\n", strings.Join(rows, "\n"))
	}
	result := "Result: " + t.Returns + "."
	if len(also) > 0 {
		result = "Also " + strings.Join(also, ", ") + ". " + result
	}
	if t.Data != "" {
		result += " Structured: " + t.Data + "."
	}
	fmt.Fprintf(&b, "%s\n\n", result)
	if t.Notes != "" {
		fmt.Fprintf(&b, "%s\n\n", t.Notes)
	}
	if t.Example != "{}" {
		fmt.Fprintf(&b, "Example: `%s`\n\n", t.Example)
	}
	return b.String()
}

// row is a parameter, and its members.
func row(of string, p catalog.Parameter) []string {
	kind := p.Type
	members := p.Members
	if p.Items != nil {
		kind, members = "list of "+p.Items.Type+"s", p.Items.Members
	}
	if p.Required {
		kind += ", required"
	}
	about := ""
	if p.About != "" {
		about = ": " + p.About
	}
	rows := []string{fmt.Sprintf("- `%s%s` (%s)%s", of, p.Name, kind, about)}
	for _, m := range members {
		if !m.Is(catalog.Unlisted) {
			rows = append(rows, row(of+p.Name+".", m)...)
		}
	}
	return rows
}
