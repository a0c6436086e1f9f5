// Package stricttoml reads TOML that anyone may have written, with errors for people.
package stricttoml

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// most bounds the tables and keys of a text. The parser compares each with all others, so
// 15,000 of them, which fit into a project's file, would take many seconds. A bracket or an
// equals sign begins each.
const most = 10_000

// Parse reads a text.
func Parse(text string) (map[string]any, error) {
	if strings.Count(text, "[")+strings.Count(text, "=") > most {
		return nil, fmt.Errorf("it has more than %d tables and keys", most)
	}
	tree := map[string]any{}
	err := toml.Unmarshal([]byte(text), &tree)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := wrong.Position()
		return nil, fmt.Errorf("it is not valid TOML: line %d, column %d: %s", line, column,
			strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	if err != nil {
		return nil, fmt.Errorf("it is not valid TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return tree, nil
}
