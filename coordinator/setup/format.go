package setup

import (
	"bytes"
	"encoding/json"
	"strings"
)

// format is the language of a file.
type format interface {
	// parse returns what a text contains. A blank text is an empty table.
	parse(text string) (map[string]any, error)
	// set puts a value at that path, in place of what is there: a string, a list of strings,
	// or a table by its members. The caller checks what the text contains then.
	set(text string, path []string, value any) string
	// remove removes what is at that path.
	remove(text string, path []string) string
	// hide replaces the strings, the numbers and the comments of a text, which may be secret.
	// Of the coordinator's own entries, which are at those paths, it shows what paths.shown allows.
	hide(text string, entries paths) string
}

// paths are those of entries.
type paths [][]string

// member is a member of a table; its value is a string, a boolean or a list of strings, or
// for a new table its members.
type member struct {
	name  string
	value any
}

// lineEnd is the one that a text uses.
func lineEnd(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// quote writes a string for JSON, which TOML reads too.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.Encode(text) // a string has no errors
	return strings.TrimSuffix(b.String(), "\n")
}

// quoteAll writes a list of strings.
func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
