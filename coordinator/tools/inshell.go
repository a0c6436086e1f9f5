package tools

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// spelled matches what InShell may replace: what is quoted stays, a tool that is named has perhaps
// an action, and a parameter may have to be true.
var spelled = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"` + "|`?\\b([a-z]+(?:_[a-z]+)+)(?:, action ([a-z]+))?\\b`?" +
		`|\b([a-z][A-Za-z]*): true\b`)
})

// InShell is a text of ours for a reader who calls the tools by the commands of a shell: it names
// the commands instead of the tools, and flags.
func InShell(text string) string {
	var b strings.Builder
	end := 0
	for _, m := range spelled().FindAllStringSubmatchIndex(text, -1) {
		part := func(n int) string {
			if m[n] < 0 {
				return ""
			}
			return text[m[n]:m[n+1]]
		}
		now := part(0)
		switch t := Named(part(2)); {
		case m[6] >= 0:
			now = "--" + Words(part(6), "-")
		case t != nil && !isOfPath(text, m[0], m[1]):
			now = "`coordinator " + t.inShell(part(4)) + "`"
		}
		b.WriteString(text[end:m[0]] + now)
		end = m[1]
	}
	return b.String() + text[end:]
}

// isOfPath reports whether a part of a text is of an address or a path.
func isOfPath(text string, from, to int) bool {
	const joins = `/\-_.:=%?&#@`
	before, after := text[:from], text[to:]
	return before != "" && strings.ContainsRune(joins, rune(before[len(before)-1])) ||
		len(after) > 1 && strings.ContainsRune(joins, rune(after[0])) && after[1] > ' '
}

// inShell is the command that calls the tool with that action; empty: any. Of several commands in
// a group it is the group.
func (t *Tool) inShell(action string) string {
	if t.Name == stepsTool {
		return "do"
	}
	first, group := t.commandNames()[0], ""
	for i, name := range t.commandNames() {
		if action != "" && t.Shell != nil && t.Shell[i].matches(action) {
			return name
		}
		word, _, _ := strings.Cut(name, " ")
		if i == 0 {
			group = word
		} else if group != word {
			group = ""
		}
	}
	if len(t.commandNames()) == 1 || group == "" || slices.Contains(t.commandNames(), group) {
		return first
	}
	return group
}

// matches reports whether the command gives the tool that action.
func (c command) matches(action string) bool {
	var given struct{ Action string }
	return c.Arguments != "" && json.Unmarshal([]byte(c.Arguments), &given) == nil && given.Action == action
}

// commandNames are the names of the tool's commands.
func (t *Tool) commandNames() (names []string) {
	if t.Shell == nil {
		return []string{command{}.name(t)}
	}
	for _, c := range t.Shell {
		names = append(names, c.name(t))
	}
	return names
}

// name is the command's name.
func (c command) name(t *Tool) string {
	if c.Name != "" {
		return c.Name
	}
	name := strings.TrimPrefix(t.Name, "browser_")
	if group, rest, _ := strings.Cut(name, "_"); slices.Contains(groups, group) {
		name = group + " " + rest
	}
	return strings.ReplaceAll(name, "_", "-")
}

// groups are the first words of tools' names that have a group of commands each.
var groups = []string{"cookie", "localstorage", "mouse", "sessionstorage", "verify"}
