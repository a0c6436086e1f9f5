package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
)

type hoverIn struct {
	Element string `json:"element,omitempty" jsonschema:"The element in words, for the human"`
	Target  string `json:"target" jsonschema:"A ref from a snapshot, or a CSS selector"`
	inWindow
}

type pressKeyIn struct {
	Key string `json:"key" jsonschema:"A name or a character, with modifiers in front: Enter, ArrowLeft, a, Control+A"`
	inWindow
}

type selectIn struct {
	Element string   `json:"element,omitempty" jsonschema:"The element in words, for the human"`
	Target  string   `json:"target" jsonschema:"A ref from a snapshot, or a CSS selector"`
	Values  []string `json:"values" jsonschema:"The options' labels or values"`
	inWindow
}

type fieldIn struct {
	Element string `json:"element,omitempty"`
	Name    string `json:"name,omitempty"`
	Target  string `json:"target"`
	Type    string `json:"type" jsonschema:"textbox, checkbox, radio, combobox or slider"`
	Value   string `json:"value" jsonschema:"The text; true or false; the option's label"`
}

type fillFormIn struct {
	Fields []fieldIn `json:"fields"`
	inWindow
}

type dialogIn struct {
	Accept     bool   `json:"accept"`
	PromptText string `json:"promptText,omitempty" jsonschema:"The answer to a prompt"`
	inWindow
}

func (s *Server) addInputTools() {
	add(s, &mcp.Tool{Name: "browser_hover", Description: "Move the mouse over an element", Annotations: acts("Hover")}, hover)
	add(s, &mcp.Tool{Name: "browser_press_key", Description: "Press a key", Annotations: acts("Press a key")}, pressKey)
	add(s, &mcp.Tool{Name: "browser_select_option", Description: "Choose options of a dropdown", Annotations: acts("Select options")}, selectOption)
	add(s, &mcp.Tool{Name: "browser_fill_form", Description: "Fill several fields at once", Annotations: acts("Fill a form")}, fillForm)
	add(s, &mcp.Tool{Name: "browser_handle_dialog", Description: "Accept or dismiss the open JavaScript dialog", Annotations: acts("Answer a dialog")}, handleDialog)
}

func hover(ctx context.Context, a *agent, in hoverIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did(fmt.Sprintf("Hovering over %s.", named(in.Element, in.Target)))(p.Hover(ctx, in.Target))
}

func pressKey(ctx context.Context, a *agent, in pressKeyIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did(fmt.Sprintf("Pressed %s.", in.Key))(p.PressKey(ctx, in.Key))
}

func selectOption(ctx context.Context, a *agent, in selectIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	did := a.did(fmt.Sprintf("Selected %s in %s.", strings.Join(in.Values, ", "), named(in.Element, in.Target)))
	return did(p.SelectOption(ctx, in.Target, in.Values...))
}

func fillForm(ctx context.Context, a *agent, in fillFormIn) (*answer, error) {
	fields := make([]page.Field, len(in.Fields))
	for i, f := range in.Fields {
		if err := oneOf("type", f.Type, "textbox", "checkbox", "radio", "combobox", "slider"); err != nil {
			return nil, fmt.Errorf("field %d: %w", i+1, err)
		}
		fields[i] = page.Field{Target: f.Target, Type: f.Type, Value: f.Value}
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did(fmt.Sprintf("Filled %d fields.", len(fields)))(p.FillForm(ctx, fields))
}

func handleDialog(ctx context.Context, a *agent, in dialogIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	did := "Dismissed the dialog."
	if in.Accept {
		did = "Accepted the dialog."
	}
	return a.did(did)(p.HandleDialog(ctx, in.Accept, in.PromptText))
}
