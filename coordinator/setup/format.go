package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// format is the language of a file.
type format interface {
	// parse returns what a text contains. A blank text is an empty table.
	parse(text string) (map[string]any, error)
}

// jsonFormat is JSON, with comments and trailing commas.
type jsonFormat struct{}

// tomlFormat is TOML.
type tomlFormat struct{}

func (jsonFormat) parse(text string) (map[string]any, error) {
	value, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	value.Standardize()
	decoder := json.NewDecoder(bytes.NewReader(value.Pack()))
	decoder.UseNumber()
	var tree map[string]any
	if err := decoder.Decode(&tree); err != nil || tree == nil {
		return nil, errors.New("it does not contain an object")
	}
	return tree, nil
}

// parseJSON parses a text; comments alone are those of an empty object.
func parseJSON(text string) (hujson.Value, error) {
	value, err := hujson.Parse([]byte(text))
	if err == nil {
		return value, nil
	}
	if empty, blank := hujson.Parse([]byte(text + "\n{}\n")); blank == nil {
		return empty, nil
	}
	return value, fmt.Errorf("it is not valid JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
}

func (tomlFormat) parse(text string) (map[string]any, error) {
	tree := map[string]any{}
	err := toml.Unmarshal([]byte(text), &tree)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := wrong.Position()
		return nil, fmt.Errorf("it is not valid TOML: line %d, column %d: %s", line, column, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	if err != nil {
		return nil, fmt.Errorf("it is not valid TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return tree, nil
}
