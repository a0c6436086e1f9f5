package tools

import (
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A structured answer is for programs. Some hosts pass only it to their model, some only
// the text, some both. So it holds everything in the text, once. What is not data is in
// its notes.

// tell adds a member to the structured answer.
func (a *answer) tell(name string, value any) {
	if a.structured == nil {
		a.structured = map[string]any{}
	}
	a.structured[name] = value
}

// told adds lines that a member of the structured answer holds too.
func (a *answer) told(text string, fromPage bool) {
	a.addBlock(block{text: text, fromPage: fromPage, told: true})
}

// untell removes the structured answer, so that only the text remains.
func (a *answer) untell() {
	a.structured = nil
	for i := range a.blocks {
		a.blocks[i].told = false
	}
}

// structure is the structured answer of a tool that has a schema for it.
func (a *answer) structure() map[string]any {
	var notes []string
	for _, b := range a.blocks {
		if text := strings.TrimSpace(b.text); !b.told && text != "" {
			notes = append(notes, text)
		}
	}
	out := a.structured
	if out == nil {
		out = map[string]any{}
	}
	if len(notes) > 0 {
		out["notes"] = strings.Join(notes, "\n")
	}
	return out
}

// marks is the metadata of a whole answer with a structured part, which has no blocks.
func (a *answer) marks() mcp.Meta {
	for _, b := range a.blocks {
		if b.fromPage {
			return mcp.Meta{fromPage: true}
		}
	}
	return nil
}

// Schemas of structured answers. An agent pays for them in every conversation, so they
// only name the members. Each answer may also have notes.

// listOf is an object with a list of objects.
func listOf(name string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"` + name + `":{"type":"array","items":{"type":"object"}}}}`)
}

// objectOf is an object with members of any type.
func objectOf(names ...string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"` + strings.Join(names, `":{},"`) + `":{}}}`)
}
