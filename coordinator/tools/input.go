package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/input"
)

type hoverIn struct {
	Element string `json:"element,omitempty"`
	Target  string `json:"target" jsonschema:"ref or CSS selector"`
	inWindow
}

type pressKeyIn struct {
	Key string `json:"key" jsonschema:"Enter, ArrowLeft, a, Control+A"`
	inWindow
}

type selectIn struct {
	Element string   `json:"element,omitempty"`
	Target  string   `json:"target" jsonschema:"ref or CSS selector"`
	Values  []string `json:"values" jsonschema:"labels or values"`
	inWindow
}

type fieldIn struct {
	Element string `json:"element,omitempty"`
	Name    string `json:"name,omitempty"`
	Target  string `json:"target"`
	Type    string `json:"type" jsonschema:"textbox, checkbox, radio, combobox or slider"`
	Value   string `json:"value" jsonschema:"text, true, false or the option's label"`
}

type fillFormIn struct {
	Fields []fieldIn `json:"fields"`
	inWindow
}

type dragIn struct {
	StartElement string `json:"startElement,omitempty"`
	StartTarget  string `json:"startTarget"`
	EndElement   string `json:"endElement,omitempty"`
	EndTarget    string `json:"endTarget"`
	inWindow
}

type waitIn struct {
	Text     string `json:"text,omitempty"`
	TextGone string `json:"textGone,omitempty"`
	URL      string `json:"url,omitempty" jsonschema:"part of it"`
	// Expression is JavaScript of the page's own world.
	Expression  string  `json:"expression,omitempty" jsonschema:"JavaScript that becomes true"`
	NetworkIdle bool    `json:"networkIdle,omitempty"`
	Time        float64 `json:"time,omitempty" jsonschema:"seconds at most (30); alone: just wait"`
	inWindow
}

type resizeIn struct {
	Width  int `json:"width"`
	Height int `json:"height"`
	inWindow
}

type dialogIn struct {
	Accept     bool   `json:"accept"`
	PromptText string `json:"promptText,omitempty"`
	inWindow
}

func (s *Server) addInputTools() {
	add(s, &mcp.Tool{Name: "browser_hover", Description: "Move the mouse over an element", Annotations: adjusts("Hover")}, hover)
	add(s, &mcp.Tool{Name: "browser_press_key", Description: "Press a key", Annotations: acts("Press a key")}, pressKey)
	add(s, &mcp.Tool{Name: "browser_select_option", Description: "Choose options of a dropdown", Annotations: acts("Select options")}, selectOption)
	add(s, &mcp.Tool{Name: "browser_fill_form", Description: "Fill several fields at once", Annotations: acts("Fill a form")}, fillForm)
	add(s, &mcp.Tool{Name: "browser_drag", Description: "Drag one element onto another", Annotations: acts("Drag")}, drag)
	add(s, &mcp.Tool{Name: "browser_wait_for", Description: "Wait until all that is given is true", Annotations: acts("Wait")}, waitFor)
	add(s, &mcp.Tool{Name: "browser_resize", Description: "Give the page another size", Annotations: adjusts("Resize")}, resize)
	add(s, &mcp.Tool{Name: "browser_handle_dialog", Description: "Accept or dismiss the open JavaScript dialog", Annotations: acts("Answer a dialog")}, handleDialog)
}

func hover(ctx context.Context, a *agent, in hoverIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did(fmt.Sprintf("Hovering over %s.", named(in.Element, in.Target)))(p.Act(ctx, p.Input().Hover(in.Target)))
}

func pressKey(ctx context.Context, a *agent, in pressKeyIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did(fmt.Sprintf("Pressed %s.", in.Key))(p.Act(ctx, p.Input().PressKey(in.Key)))
}

func selectOption(ctx context.Context, a *agent, in selectIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	did := a.did(fmt.Sprintf("Selected %s in %s.", strings.Join(in.Values, ", "), named(in.Element, in.Target)))
	return did(p.Act(ctx, p.Input().SelectOption(in.Target, in.Values...)))
}

func fillForm(ctx context.Context, a *agent, in fillFormIn) (*answer, error) {
	if len(in.Fields) == 0 {
		return nil, errors.New("fields: give at least one")
	}
	fields := make([]input.Field, len(in.Fields))
	for i, f := range in.Fields {
		if err := oneOf("type", f.Type, "textbox", "checkbox", "radio", "combobox", "slider"); err != nil {
			return nil, fmt.Errorf("field %d: %w", i+1, err)
		}

		value := a.server.options.Secrets.Value(f.Value)
		fields[i] = input.Field{Target: f.Target, Type: f.Type, Value: value, Secret: value != f.Value}
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	change, err := p.Act(ctx, p.Input().FillForm(fields))
	for _, h := range change.Held {
		if i := slices.IndexFunc(in.Fields, func(f fieldIn) bool { return f.Target == h.Target }); i >= 0 {
			a.server.options.Secrets.Learn(in.Fields[i].Value, h.Plain)
		}
	}
	return a.did(fmt.Sprintf("Filled %d fields.", len(fields)))(change, err)
}

func drag(ctx context.Context, a *agent, in dragIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	did := a.did(fmt.Sprintf("Dragged %s onto %s.", named(in.StartElement, in.StartTarget), named(in.EndElement, in.EndTarget)))
	return did(p.Act(ctx, p.Input().Drag(in.StartTarget, in.EndTarget)))
}

// longestWait is Playwright MCP's limit too.
const longestWait = 30 * time.Second

func waitFor(ctx context.Context, a *agent, in waitIn) (*answer, error) {
	limit := time.Duration(in.Time * float64(time.Second))
	if limit < 0 || limit > longestWait {
		return nil, fmt.Errorf("time: want 0 to %.0f seconds", longestWait.Seconds())
	}
	wait := page.WaitOptions{
		Text: in.Text, Gone: in.TextGone, URL: in.URL, Expression: in.Expression, Idle: in.NetworkIdle,
	}
	if wait == (page.WaitOptions{}) {
		if limit == 0 {
			return nil, errors.New("nothing to wait for: give text, textGone, url, expression, networkIdle or time")
		}
		return justWait(ctx, a, limit)
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	wait.Timeout = limit
	met := "It is so now."
	switch {
	case in.Text != "" && in.TextGone == "":
		met = "It is there."
	case in.TextGone != "" && in.Text == "":
		met = "It is gone."
	}
	return a.did(met)(p.WaitFor(ctx, wait))
}

// justWait waits for the time that the agent requests: here a fixed time is no stopgap.
func justWait(ctx context.Context, a *agent, d time.Duration) (*answer, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		out := a.begin()
		out.addf("Waited %v.", d)
		return out, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func resize(ctx context.Context, a *agent, in resizeIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did(fmt.Sprintf("The page is %d × %d now.", in.Width, in.Height))(p.Emulate(ctx, emulation.Settings{Viewport: &emulation.Viewport{Width: in.Width, Height: in.Height}}))
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
	return a.did(did)(p.HandleDialog(ctx, in.Accept, a.server.options.Secrets.Value(in.PromptText)))
}
