package tools

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/coordinator/tools/catalog"
	"browser-coordinator/internal/golden"
)

// TestReference: the reference of the tools is what the tools are. UPDATE_REFERENCE=1
// writes it.
func TestReference(t *testing.T) { golden.Check(t, "../../docs/tools.md", reference()) }

const referenceBegin = `# The tools

<!-- Generated from the tools in coordinator/tools: see TestReference there. -->

These are the tools of ` + "`coordinator mcp`" + `, and the [commands in a shell](shell.md) that call them. ` +
	`[The specification](../specs/mcp-tools.md) has what they share: [targets](../specs/mcp-tools.md#targets), ` +
	`[snapshots](../specs/mcp-tools.md#snapshots), [results](../specs/mcp-tools.md#what-changed), ` +
	`[files](../specs/mcp-tools.md#files).

- A parameter without a type is a string.
- A tool *reads*, *shows* the user something, *adjusts* what can be undone, or *acts*. ` +
	"In `view` mode an agent may only read and show; in `ask` mode the user is asked before the others, " +
	`or allows the *kind* of action in brackets for a session on the site.
- The result is what the first sentence promises, and what changed in the page, if the entry names no other.
- A command's other parameters are flags: ` + "`fullPage` is `--full-page`. " +
	"`coordinator help COMMAND`" + ` has the rest.
- The tools ` + "`debug_…`, `reveal_source` and `present_review`" + ` need VS Code with the extension; ` +
	`the user sees their effect in the editor.

A tool also has these parameters, unless its entry says *without*:

- ` + "`window`" + `: [another window](../specs/mcp-tools.md#which-window) than yours, ` +
	"by its folder or an address of `window_list`" + `
- ` + "`tab`" + ` (integer): [another tab](../specs/mcp-tools.md#which-page) than yours, ` +
	"by the index that `browser_tabs` has" + `

It has these if its entry names them after *also*:

- ` + "`changes`" + `: how much of what has changed the result shows: ` + "`none`, `short` (default) or `full`" + `
- ` + "`page`" + ` (integer): which part of a long result, from 1
- ` + "`filename`" + `: the result goes to a new file

`

var effectNames = map[Effect]string{Reads: "Reads", Shows: "Shows", Adjusts: "Adjusts", Acts: "Acts"}

func reference() string {
	var b strings.Builder
	b.WriteString(referenceBegin)
	section := func(title, description, set string) {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", title, description)
		for _, t := range All() {
			if t.Set == set {
				b.WriteString(t.reference())
			}
		}
	}
	section("Always on", "These tools are listed from the first message.", "")
	for _, c := range Caps {
		section(c.Name, fmt.Sprintf("With `--caps %s`: %s.", c.Name, c.Purpose), c.Name)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// reference is the entry of a tool.
func (t *Tool) reference() string {
	var b strings.Builder
	effect := effectNames[t.Effect]
	if t.Category != "" {
		effect += fmt.Sprintf(" (%s)", t.Category)
	}
	if t.ReadOnly != "" {
		effect += "; it only reads " + t.ReadOnly
	}
	fmt.Fprintf(&b, "### %s\n\n%s. %s.\n\n", t.Name, t.Description, effect)
	var rows, also []string
	without := []string{"`tab`", "`window`"}
	for _, p := range t.Parameters.Members {
		name := "`" + p.Name + "`"
		switch {
		case p.Is(catalog.Unlisted):
		case slices.Contains(without, name):
			without = slices.DeleteFunc(without, func(n string) bool { return n == name })
		case slices.Contains(general, p.Name) && !p.Required:
			also = append(also, name)
		default:
			rows = append(rows, row("", p)...)
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(&b, "%s\n\n", strings.Join(rows, "\n"))
	}
	result := ""
	if t.Returns != "" {
		result = " Result: " + t.Returns + "."
	}
	if len(also) > 0 {
		result = " Also " + strings.Join(also, ", ") + "." + result
	}
	if len(without) > 0 {
		result = " Without " + strings.Join(without, ", ") + "." + result
	}
	if t.Data != "" {
		result += " Structured: " + t.Data + "."
	}
	if usages := t.usages(); len(usages) > 0 {
		result += " Shell: " + strings.Join(usages, ", ") + "."
	}
	if result != "" {
		fmt.Fprintf(&b, "%s\n\n", strings.TrimSpace(result))
	}
	if t.Notes != "" {
		fmt.Fprintf(&b, "%s\n\n", t.Notes)
	}
	if strings.ContainsAny(t.Example[1:], "[{") { // where a value has parts
		fmt.Fprintf(&b, "Example: `%s`\n\n", t.Example)
	}
	return b.String()
}

// usages are the commands that call the tool, with their arguments.
func (t *Tool) usages() []string {
	if t.Name == stepsTool {
		return []string{"`do`"}
	}
	var usages []string
	for _, c := range Commands() {
		if c.Tool == t {
			usages = append(usages, "`"+strings.TrimSpace(c.Name+" "+c.Usage())+"`")
		}
	}
	return usages
}

// row is a parameter, and its members.
func row(prefix string, p catalog.Parameter) []string {
	var kind []string
	members := p.Members
	switch {
	case p.Items != nil:
		kind, members = append(kind, "list of "+p.Items.Type+"s"), p.Items.Members
	case p.Type != "string":
		kind = append(kind, p.Type)
	}
	if p.Required {
		kind = append(kind, "required")
	}
	about := ""
	if len(kind) > 0 {
		about = " (" + strings.Join(kind, ", ") + ")"
	}
	description := ""
	if p.Description != "" {
		description = ": " + p.Description
	}
	rows := []string{fmt.Sprintf("- `%s%s`%s%s", prefix, p.Name, about, description)}
	if strings.HasPrefix(p.Description, "{") {
		return rows // the description names the members
	}
	for _, m := range members {
		if !m.Is(catalog.Unlisted) {
			rows = append(rows, row(prefix+p.Name+".", m)...)
		}
	}
	return rows
}
