package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/policy"
)

type clickIn struct {
	targetIn
	DoubleClick bool     `json:"doubleClick,omitempty"`
	Button      string   `json:"button,omitempty" oneof:"left right middle"`
	Modifiers   []string `json:"modifiers,omitempty" about:"Alt, Control, ControlOrMeta, Meta, Shift"`
	// Position is Playwright's.
	Position *frame.Point `json:"position,omitempty" about:"{x, y} from its top left; default: its middle" is:"spelled"`
	actsIn
}

// verb is the verb of a click: the first for a plain one, the last, after the name of the
// button, for another button.
func (in clickIn) verb(first, twice, other string) string {
	verb := first
	if in.DoubleClick {
		verb = twice
	}
	switch in.Button {
	case "right":
		verb = "Right" + other
	case "middle":
		verb = "Middle" + other
	}
	return verb
}

var _ = define(Tool{
	Name: "browser_click", Title: "Click", Description: "Click an element",
	Effect: Acts, Category: policy.Input,
	Steps: []action{{Name: "click"}},
	Shell: []command{{Name: "click"}, {
		Name: "dblclick", Summary: "Double-click an element", Arguments: `{"doubleClick": true}`, Step: "click",
	}},
	Notes:   "`position` begins inside the target's border.",
	Example: `{"target": "button \"Order\""}`,
}, calls[clickIn]{
	Aims: func(in clickIn) []input.Aim {
		return []input.Aim{{Target: in.Target, Pointer: true, Position: in.Position}}
	},
	Question: func(in clickIn, names []string) string {
		question := in.verb("Click", "Double-click", "-click") + " " + names[0]
		if in.Position != nil {
			question += fmt.Sprintf(" at %g, %g", in.Position.X, in.Position.Y)
		}
		if len(in.Modifiers) > 0 {
			question += " with " + agent.Quoted(strings.Join(in.Modifiers, "+"))
		}
		return question
	},
	Do: acting(func(i *input.Input, in clickIn) (done string, _ input.Action) {
		options := input.ClickOptions{Button: in.Button, Double: in.DoubleClick, Modifiers: in.Modifiers,
			Position: in.Position}
		return in.verb("Clicked", "Double-clicked", "-clicked"), i.Click(in.Target, options)
	}),
	Code: func(in clickIn, d *agent.Record) export.Step {
		var options []javascript.Expression
		if in.Button != "" && in.Button != "left" {
			options = append(options, javascript.Format("button: $", in.Button))
		}
		if len(in.Modifiers) > 0 {
			modifiers := make([]string, len(in.Modifiers))
			for i, m := range in.Modifiers {
				modifiers[i] = input.KeyName(m)
			}
			options = append(options, javascript.Format("modifiers: $", modifiers))
		}
		with := object(append(options, position(in.Position)...))
		if in.DoubleClick {
			return code(javascript.Format("$.dblclick($)", d.Elements[0], with))
		}
		return code(javascript.Format("$.click($)", d.Elements[0], with))
	},
})

type hoverIn struct {
	Target   string       `json:"target,omitempty" about:"ref or selector" is:"subject"`
	Position *frame.Point `json:"position,omitempty" about:"{x, y} in it; without target in the viewport" is:"spelled"`
	DeltaX   float64      `json:"deltaX,omitempty"`
	DeltaY   float64      `json:"deltaY,omitempty" about:"then turn the wheel"`
	inPage
}

// turns reports whether the wheel is turned.
func (in hoverIn) turns() bool { return in.DeltaX != 0 || in.DeltaY != 0 }

// done is what the answer says is done to the target.
func (in hoverIn) done() string {
	location := ""
	if in.Target == "" && in.Position != nil {
		location = fmt.Sprintf(" at %g, %g", in.Position.X, in.Position.Y)
	}
	turned := fmt.Sprintf("Turned the wheel by %g, %g", in.DeltaX, in.DeltaY)
	switch {
	case in.turns() && in.Target != "":
		return turned + " over"
	case in.turns():
		return turned + location
	case in.Target == "":
		return "The mouse is" + location
	}
	return "Hovering over"
}

var _ = define(Tool{
	Name: "browser_hover", Title: "Hover", Description: "Move the mouse over an element",
	Effect: Adjusts, Category: policy.Input,
	Steps:   []action{{Name: "hover"}},
	Shell:   []command{{Args: "[target]"}},
	Notes:   "`deltaX` and `deltaY` are in CSS pixels.",
	Example: `{"target": "button \"Menu\""}`,
}, calls[hoverIn]{
	Aims: func(in hoverIn) []input.Aim {
		if in.Target == "" {
			return nil
		}
		return []input.Aim{{Target: in.Target, Pointer: true, Position: in.Position}}
	},
	Question: func(in hoverIn, names []string) string {
		over := "over " + strings.Join(names, "")
		if in.Target == "" && in.Position != nil {
			over = fmt.Sprintf("to %g, %g", in.Position.X, in.Position.Y)
		}
		if in.turns() {
			over += fmt.Sprintf(", and turn the wheel by %g, %g", in.DeltaX, in.DeltaY)
		}
		return "Move the mouse " + over
	},
	Do: acting(func(i *input.Input, in hoverIn) (string, input.Action) {
		return in.done(), i.Hover(in.Target, input.HoverOptions{Position: in.Position, DX: in.DeltaX, DY: in.DeltaY})
	}),
	Code: func(in hoverIn, d *agent.Record) export.Step {
		var s export.Step
		if in.Target != "" {
			s.Code = append(s.Code, javascript.Format("$.hover($)", d.Elements[0], object(position(in.Position))))
		} else {
			s.Code = append(s.Code, javascript.Format("$.mouse.move($, $)", d.Page, in.Position.X, in.Position.Y))
		}
		if in.turns() {
			s.Code = append(s.Code, javascript.Format("$.mouse.wheel($, $)", d.Page, in.DeltaX, in.DeltaY))
		}
		return s
	},
})

type typeIn struct {
	Target string `json:"target,omitempty" about:"default: the caret" is:"subject"`
	Text   string `json:"text"`
	Submit bool   `json:"submit,omitempty" about:"then press Enter"`
	Slowly bool   `json:"slowly,omitempty" about:"add key by key at the end"`
	actsIn
}

var _ = define(Tool{
	Name: "browser_type", Title: "Type", Description: "Replace the text of a field, or add to it with slowly",
	Effect: Acts, Category: policy.Input,
	Steps:   []action{{Name: "type", Aliases: []string{"fill"}}},
	Shell:   []command{{Args: "[target] text"}},
	Notes:   "With `slowly` the page always gets key events.",
	Example: `{"target": "textbox \"Coupon\"", "text": "TEA10", "submit": true}`,
}, calls[typeIn]{
	Aims: func(in typeIn) []input.Aim { return []input.Aim{{Target: in.Target}} },
	Question: func(in typeIn, names []string) string {
		question := "Type " + agent.Quoted(in.Text)
		if names[0] != "" {
			question += " into " + names[0]
		}
		if in.Text == "" && in.Target != "" {
			question = "Clear " + names[0]
		}
		if in.Submit {
			question += " and press Enter"
		}
		return question
	},
	Do: onPage(typeText),
	Code: func(in typeIn, d *agent.Record) export.Step {
		if in.Target == "" {
			return typedAtFocus(in, d)
		}
		var s export.Step
		if d.ToEnd() {
			s.Code = append(s.Code, javascript.Format("$.press('ControlOrMeta+End')", d.Elements[0]))
		}
		if in.Slowly {
			s.Code = append(s.Code, javascript.Format("$.pressSequentially($)", d.Elements[0], d.TextAt(0, in.Text)))
		} else {
			s.Code = append(s.Code, javascript.Format("$.fill($)", d.Elements[0], d.TextAt(0, in.Text)))
		}
		if in.Submit {
			s.Code = append(s.Code, javascript.Format("$.press('Enter')", d.Elements[0]))
		}
		return s
	},
})

func typeText(ctx context.Context, c *agent.Call, p *page.Page, in typeIn) error {
	if err := c.Agent.Secrets.Typable(in.Text); err != nil {
		return err
	}
	text := c.Agent.Secrets.Value(in.Text)
	options := input.TypeOptions{Slowly: in.Slowly, Submit: in.Submit, Secret: text != in.Text}
	typing := p.Input().Type(in.Target, text, options)
	if in.Target == "" {
		typing = p.Input().TypeAtFocus(text, options)
	}
	change, err := c.Act(ctx, p, typing)
	for _, h := range slices.Concat(change.Values, change.PastValues) {
		c.Agent.Secrets.Learn(in.Text, h.Plain)
	}
	done, location := "Typed", " into"
	if in.Submit {
		done, location = "Typed and pressed Enter", " in"
	}
	if in.Target != "" || len(change.Elements) > 0 && change.Elements[0].Role != "" {
		done += location
	}
	return c.Acted(done, "")(change, err)
}

func typedAtFocus(in typeIn, d *agent.Record) (s export.Step) {
	s.Code = append(s.Code, javascript.Format("$.keyboard.insertText($)", d.Page, d.TextAt(0, in.Text)))
	if in.Slowly {
		s.Code[0] = javascript.Format("$.keyboard.type($)", d.Page, d.TextAt(0, in.Text))
	}
	if in.Submit {
		s.Code = append(s.Code, javascript.Format("$.keyboard.press('Enter')", d.Page))
	}
	return s
}

type pressKeyIn struct {
	Key    string `json:"key" about:"Enter, ArrowLeft, a, Control+A" is:"subject"`
	Target string `json:"target,omitempty" is:"unlisted"`
	actsIn
}

var _ = define(Tool{
	Name: "browser_press_key", Title: "Press key", Description: "Press a key",
	Effect: Acts, Category: policy.Input,
	Steps:   []action{{Name: "press"}},
	Shell:   []command{{Name: "press"}},
	Notes:   "`target`, which is not listed, gets the focus first.",
	Example: `{"key": "Enter"}`,
}, calls[pressKeyIn]{
	Aims: func(in pressKeyIn) []input.Aim { return []input.Aim{{Target: in.Target}} },
	Question: func(in pressKeyIn, names []string) string {
		if names[0] == "" {
			return "Press " + agent.Quoted(in.Key)
		}
		return "Press " + agent.Quoted(in.Key) + " in " + names[0]
	},
	Subject: func(in pressKeyIn, target string) string {
		if target == "" {
			return in.Key
		}
		return in.Key + " in " + target
	},
	Do: onPage(pressKey),
	Code: func(in pressKeyIn, d *agent.Record) export.Step {
		var key any = input.KeyName(in.Key)
		if text := input.Character(in.Key); d.Element(0).Password && text != "" {
			key = d.TextAt(0, text)
		}
		if in.Target != "" {
			return code(javascript.Format("$.press($)", d.Elements[0], key))
		}
		return code(javascript.Format("$.keyboard.press($)", d.Page, key))
	},
})

func pressKey(ctx context.Context, c *agent.Call, p *page.Page, in pressKeyIn) error {
	press := p.Input().PressKey(in.Key)
	if in.Target != "" {
		press = p.Input().PressKeyIn(in.Target, in.Key)
	}
	change, err := c.Act(ctx, p, press)
	done := "Pressed " + in.Key
	if len(change.Elements) > 0 && change.Elements[0].Role != "" {
		done += " in"
	}
	return c.Acted(done, "")(change, err)
}

type selectIn struct {
	targetIn
	Values []string `json:"values" about:"labels or values"`
	inPage
}

var _ = define(Tool{
	Name: "browser_select_option", Title: "Select option", Description: "Choose options of a dropdown",
	Effect: Acts, Category: policy.Input,
	Steps: []action{{Name: "select"}},
	Shell: []command{{Name: "select"}},
	Notes: "Options may have any case where that is unique. A combobox or listbox of the page's own is opened, and the " +
		"options are clicked.",
	Example: `{"target": "combobox \"Size\"", "values": ["Large"]}`,
}, calls[selectIn]{
	Aims: selectIn.field,
	Question: func(in selectIn, names []string) string {
		return "Select " + list(in.Values) + " in " + names[0]
	},
	Do: acting(func(i *input.Input, in selectIn) (string, input.Action) {
		return fmt.Sprintf("Selected %s in", strings.Join(in.Values, ", ")), i.SelectOption(in.Target, in.Values...)
	}),
	Code: func(in selectIn, d *agent.Record) export.Step {
		return export.Step{Code: chosen(d, 0, in.Values)}
	},
})

type fieldIn struct {
	Target string `json:"target"`
	// Type is Playwright's. Agents give it also the roles of a snapshot.
	Type  string     `json:"type,omitempty" about:"default: what the field is"`
	Value fieldValue `json:"value" about:"text, number, true, false or the option's label" is:"multiple"`
}

// fieldValue is the text for a field, or the options of a list.
type fieldValue struct {
	text    string
	options []string // nil: the text is given
}

func (v *fieldValue) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &v.text) == nil {
		return nil
	}
	return json.Unmarshal(text, &v.options)
}

// chosen is the code that chooses options in an element of the call, by how that was filled.
func chosen(d *agent.Record, n int, options any) (steps []javascript.Expression) {
	locator, element := d.Elements[n], d.Element(n)
	switch element.Filled {
	case "list":
		steps = append(steps, javascript.Format("$.click()", locator))
	case "options", "combobox":
	default:
		return []javascript.Expression{javascript.Format("$.selectOption($)", locator, options)}
	}
	for _, label := range element.Chosen {
		if element.Filled == "combobox" {
			steps = append(steps, javascript.Format("$.fill($)", locator, label))
		}
		steps = append(steps, javascript.Format("$.getByRole('option', { name: $, exact: true }).click()", d.Page, label))
	}
	return steps
}

// fieldType is the type as the page's input knows it; empty: what the field is.
func (f fieldIn) fieldType() string {
	if slices.Contains([]string{"textbox", "checkbox", "radio", "combobox", "slider"}, f.Type) {
		return f.Type
	}
	return ""
}

type fillFormIn struct {
	Fields []fieldIn `json:"fields"`
	actsIn
}

var _ = define(Tool{
	Name: "browser_fill_form", Title: "Fill form", Description: "Fill several fields at once",
	Effect: Acts, Category: policy.Input,
	Steps: []action{
		{Name: "fill_form"},
		{Name: "check", Adapt: checkTo("true"), Example: `{"target": "checkbox \"News\""}`},
		{Name: "uncheck", Adapt: checkTo("false"), Example: `{"target": "checkbox \"News\""}`},
	},
	Shell: []command{
		{Name: "fill", Step: "fill_form"},
		{Name: "check", Summary: "Check a checkbox or radio button", Args: "target"},
		{Name: "uncheck", Summary: "Uncheck a checkbox", Args: "target"},
	},
	Notes: "`type` (Playwright MCP's `textbox`, `checkbox`, `radio`, `combobox`, `slider`) counts only where it " +
		"is unclear what the field is. A list as the `value` selects these options of a list that takes several. If " +
		"a field takes no such value, none is filled.",
	Example: `{"fields": [{"target": "textbox \"Coupon\"", "value": "TEA10"}, ` +
		`{"target": "checkbox \"News\"", "value": "true"}]}`,
}, calls[fillFormIn]{
	Aims: func(in fillFormIn) []input.Aim {
		aims := make([]input.Aim, len(in.Fields))
		for i, f := range in.Fields {
			pointer := f.Type == "checkbox" || f.Type == "radio"
			aims[i] = input.Aim{Target: f.Target, Pointer: pointer}
		}
		return aims
	},
	Question: func(in fillFormIn, names []string) string {
		parts := make([]string, len(names))
		for i, name := range names {
			value := agent.Quoted(in.Fields[i].Value.text)
			if in.Fields[i].Value.options != nil {
				value = list(in.Fields[i].Value.options)
			}
			parts[i] = name + " to " + value
		}
		question := "Set "
		if len(parts) > 1 {
			question += fmt.Sprintf("%d fields: ", len(parts))
		}
		return question + strings.Join(parts, ", ")
	},
	Do: fillForm,
	Code: func(in fillFormIn, d *agent.Record) export.Step {
		var s export.Step
		for i, f := range in.Fields {
			switch d.Element(i).Filled {
			case "click":
				state, _ := input.CheckedState(f.Value.text)
				s.Code = append(s.Code, javascript.Format("$.setChecked($)", d.Elements[i], state))
			case "select", "list", "options", "combobox":
				var options any = d.Text(f.Value.text)
				if f.Value.options != nil {
					options = f.Value.options
				}
				s.Code = append(s.Code, chosen(d, i, options)...)
			default:
				s.Code = append(s.Code, javascript.Format("$.fill($)", d.Elements[i], d.TextAt(i, f.Value.text)))
			}
		}
		return s
	},
	Part: func(in fillFormIn, failed error) fillFormIn {
		var at *input.FieldError
		if !errors.As(failed, &at) {
			return fillFormIn{}
		}
		return fillFormIn{Fields: in.Fields[:len(at.Filled)]}
	},
})

// checkTo makes a step a form of one checkbox.
func checkTo(value string) func(map[string]any) map[string]any {
	return func(arguments map[string]any) map[string]any {
		form := map[string]any{}
		for _, shared := range []string{"changes", "tab", "window"} {
			if given, ok := arguments[shared]; ok {
				form[shared] = given
				delete(arguments, shared)
			}
		}
		arguments["type"], arguments["value"] = "checkbox", value
		form["fields"] = []any{arguments}
		return form
	}
}

func fillForm(ctx context.Context, c *agent.Call, in fillFormIn) error {
	if len(in.Fields) == 0 {
		return errors.New("fields: give at least one")
	}
	fields := make([]input.Field, len(in.Fields))
	for i, f := range in.Fields {
		if err := c.Agent.Secrets.Typable(f.Value.text); err != nil {
			return fmt.Errorf("field %d: %w", i+1, err)
		}
		value := c.Agent.Secrets.Value(f.Value.text)
		fields[i] = input.Field{Target: f.Target, Type: f.fieldType(), Value: value, Values: f.Value.options,
			Secret: value != f.Value.text}
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	change, err := c.Act(ctx, p, p.Input().FillForm(fields))
	for _, h := range slices.Concat(change.Values, change.PastValues) {
		if i := slices.IndexFunc(in.Fields, func(f fieldIn) bool { return f.Target == h.Target }); i >= 0 {
			c.Agent.Secrets.Learn(in.Fields[i].Value.text, h.Plain)
		}
	}
	done := fmt.Sprintf("Filled %d fields:", len(fields))
	if len(fields) == 1 {
		done = cmp.Or(map[string]string{"checkbox true": "Checked",
			"checkbox false": "Unchecked"}[fields[0].Type+" "+fields[0].Value], "Filled")
	}
	return c.Acted(done, ", ")(change, err)
}

type dragIn struct {
	StartTarget string       `json:"startTarget" is:"subject"`
	EndTarget   string       `json:"endTarget,omitempty" is:"subject"`
	Offset      *frame.Point `json:"offset,omitempty" about:"{x, y} instead of endTarget" is:"spelled"`
	// These are Playwright's sourcePosition and targetPosition.
	StartPosition *frame.Point `json:"startPosition,omitempty" is:"unlisted"`
	EndPosition   *frame.Point `json:"endPosition,omitempty" is:"unlisted"`
	inPage
}

var _ = define(Tool{
	Name: "browser_drag", Title: "Drag", Description: "Drag an element onto another",
	Effect: Acts, Category: policy.Input,
	Steps: []action{{Name: "drag", Usage: "target, to", Example: `{"target": "e1", "to": "e2"}`,
		Adapt: func(arguments map[string]any) map[string]any {
			for step, ours := range map[string]string{"target": "startTarget", "to": "endTarget"} {
				if value, present := arguments[step]; present {
					arguments[ours] = value
					delete(arguments, step)
				}
			}
			return arguments
		}}},
	Shell: []command{{Args: "startTarget [endTarget]"}},
	Returns: "what changed, and whether the page refused the drop. That is no error: some pages reorder while the " +
		"pointer moves",
	Notes: "Give `endTarget`, or an `offset` in CSS pixels. `startPosition` and `endPosition` (Playwright's " +
		"`sourcePosition` and `targetPosition`) are places in the targets; they are not listed.",
	Example: `{"startTarget": "listitem \"Tea\"", "endTarget": "list \"Basket\""}`,
}, calls[dragIn]{
	Aims: func(in dragIn) []input.Aim {
		aims := []input.Aim{{Target: in.StartTarget, Pointer: true, Position: in.StartPosition}}
		if in.EndTarget != "" {
			aims = append(aims, input.Aim{Target: in.EndTarget, Pointer: true, Position: in.EndPosition})
		}
		return aims
	},
	Question: func(in dragIn, names []string) string {
		if in.Offset != nil {
			return fmt.Sprintf("Drag %s by %g, %g", names[0], in.Offset.X, in.Offset.Y)
		}
		return "Drag " + strings.Join(names, " onto ")
	},
	Do: acting(func(i *input.Input, in dragIn) (string, input.Action) {
		switch {
		case (in.EndTarget == "") == (in.Offset == nil), in.EndTarget == "" && in.EndPosition != nil:
			return "", input.Action{Err: errors.New("give an endTarget, or an offset in CSS pixels")}
		case in.Offset != nil:
			return fmt.Sprintf("Dragged by %g, %g:", in.Offset.X, in.Offset.Y),
				i.DragBy(in.StartTarget, in.StartPosition, *in.Offset)
		}
		return "Dragged", i.DragTo(in.StartTarget, in.StartPosition, in.EndTarget, in.EndPosition)
	}),
	Code: func(in dragIn, d *agent.Record) export.Step {
		if in.Offset != nil {
			return export.Step{Comment: "browser_drag by an offset is not part of the test."}
		}
		var options []javascript.Expression
		if point := in.StartPosition; point != nil {
			options = append(options, javascript.Format("sourcePosition: { x: $, y: $ }", point.X, point.Y))
		}
		if point := in.EndPosition; point != nil {
			options = append(options, javascript.Format("targetPosition: { x: $, y: $ }", point.X, point.Y))
		}
		if len(options) > 0 {
			return code(javascript.Format("$.dragTo($, $)", d.Elements[0], d.Elements[1], object(options)))
		}
		return code(javascript.Format("$.dragTo($)", d.Elements[0], d.Elements[1]))
	},
})

type uploadIn struct {
	Paths  []string `json:"paths,omitempty" about:"in the workspace; [] cancels" is:"file"`
	Target string   `json:"target,omitempty" about:"input or button; default: the open chooser" is:"subject"`
	inPage
}

var _ = define(Tool{
	Name: "browser_file_upload", Title: "File upload", Description: "Give files to a file input or chooser",
	Effect: Acts,
	Steps:  []action{{Name: "upload", Aliases: []string{"file_upload"}}},
	Shell:  []command{{Name: "upload", Args: "[target] paths..."}},
	Notes: "`paths` are within the [limits of files](../specs/mcp-tools.md#files); none cancels, or empties a " +
		"file input. `target` may be hidden, or open a chooser at a click.",
	Example: `{"target": "button \"Receipt\"", "paths": ["receipt.pdf"]}`,
}, calls[uploadIn]{
	Aims: func(in uploadIn) []input.Aim {
		return []input.Aim{{Target: in.Target, Chooser: in.Target == "", Pointer: true}}
	},
	Question: func(in uploadIn, names []string) string {
		if len(in.Paths) == 0 && in.Target == "" {
			return "Give no file to " + names[0]
		}
		return "Put " + files(in.Paths) + " into " + names[0]
	},
	Do: func(ctx context.Context, c *agent.Call, in uploadIn) error {
		files, err := c.Agent.Uploads(ctx, in.Paths)
		if err != nil {
			return fmt.Errorf("upload: %w", err)
		}
		p, err := c.Page(ctx)
		if err != nil {
			return err
		}
		answer := c.Acted(fmt.Sprintf("Put %s into", count(files)), "")
		return answer(c.Act(ctx, p, p.Input().Upload(in.Target, files...)))
	},
	Code: func(in uploadIn, d *agent.Record) export.Step {
		switch {
		case in.Target == "":
			return export.Step{Files: append([]string{}, in.Paths...)}
		case d.Clicked():
			return export.Step{Code: []javascript.Expression{javascript.Format("$.click()", d.Elements[0])},
				Files: in.Paths}
		}
		return code(javascript.Format("$.setInputFiles($)", d.Elements[0], in.Paths))
	},
})

type dropIn struct {
	targetIn
	Paths []string          `json:"paths,omitempty" is:"file"`
	Data  map[string]string `json:"data,omitempty" about:"by MIME type"`
	inPage
}

var _ = define(Tool{
	Name: "browser_drop", Title: "Drop", Description: "Drop files or data onto an element",
	Effect: Acts,
	Shell:  []command{{Args: "target [paths...]"}},
	Notes: "It is an error if neither the page nor a field takes it. `paths` are within the [limits of " +
		"files](../specs/mcp-tools.md#files).",
	Example: `{"target": "region \"Attachments\"", "data": {"text/plain": "hello"}}`,
}, calls[dropIn]{
	Aims: dropIn.pointer,
	Question: func(in dropIn, names []string) string {
		var what []string
		if len(in.Paths) > 0 {
			what = append(what, files(in.Paths))
		}
		for _, kind := range slices.Sorted(maps.Keys(in.Data)) {
			what = append(what, agent.Quoted(in.Data[kind]))
		}
		return "Drop " + strings.Join(what, ", ") + " onto " + names[0]
	},
	Do: func(ctx context.Context, c *agent.Call, in dropIn) error {
		files, err := c.Agent.Uploads(ctx, in.Paths)
		if err != nil {
			return fmt.Errorf("drop: %w", err)
		}
		p, err := c.Page(ctx)
		if err != nil {
			return err
		}
		description := count(files)
		if len(in.Data) > 0 {
			description = fmt.Sprint(slices.Sorted(maps.Keys(in.Data)))
		}
		answer := c.Acted(fmt.Sprintf("Dropped %s onto", description), "")
		return answer(c.Act(ctx, p, p.Input().Drop(in.Target, files, in.Data)))
	},
	Code: func(in dropIn, d *agent.Record) export.Step {
		var payload []javascript.Expression
		if len(in.Paths) > 0 {
			payload = append(payload, javascript.Format("files: $", in.Paths))
		}
		if len(in.Data) > 0 {
			var data []javascript.Expression
			for _, kind := range slices.Sorted(maps.Keys(in.Data)) {
				data = append(data, javascript.Format("$: $", javascript.Key(kind), in.Data[kind]))
			}
			payload = append(payload, javascript.Format("data: $", object(data)))
		}
		return code(javascript.Format("$.drop($)", d.Elements[0], object(payload)))
	},
})

type dialogIn struct {
	Accept     bool    `json:"accept"`
	PromptText *string `json:"promptText,omitempty"`
	// Time is 0 for a dialog that is open; a step waits for one.
	Time float64 `json:"time,omitempty" about:"seconds to wait for it"`
	inPage
}

var _ = define(Tool{
	Name: "browser_handle_dialog", Title: "Answer a dialog",
	Description: "Accept or dismiss the open JavaScript dialog",
	Effect:      Acts, Traits: agent.Traits{Answers: true},
	Steps: []action{{Name: "dialog", Aliases: []string{"handle_dialog"}, Usage: "accept, promptText", Adapt: inTime}},
	Shell: []command{
		{Name: "dialog accept", Summary: "Accept the open JavaScript dialog", Args: "[promptText]",
			Arguments: `{"accept": true}`, Step: "dialog"},
		{Name: "dialog dismiss", Summary: "Dismiss the open JavaScript dialog", Arguments: `{"accept": false}`,
			Omits: "promptText", Step: "dialog"},
	},
	Notes:   "`promptText` is by default what the prompt has in it. Without `time` the dialog must be open.",
	Example: `{"accept": true}`,
}, calls[dialogIn]{
	Do: onPage(handleDialog),
	Code: func(in dialogIn, d *agent.Record) export.Step {
		answer := &export.Answer{Accept: in.Accept, Message: d.Message()}
		if in.PromptText != nil {
			answer.Text = javascript.Format("$", d.Text(*in.PromptText))
		}
		return export.Step{Answer: answer}
	},
})

func handleDialog(ctx context.Context, c *agent.Call, p *page.Page, in dialogIn) error {
	sentence := "Dismissed the dialog."
	if in.Accept {
		sentence = "Accepted the dialog."
	}
	if in.Time < 0 || in.Time > longestWait.Seconds() {
		return fmt.Errorf("time: want 0 to %.0f seconds", longestWait.Seconds())
	}
	limit := secondsUpTo(longestWait, in.Time)
	if limit > 0 {
		if err := p.AwaitDialog(ctx, limit); err != nil {
			return err
		}
		if err := c.ConfirmSite(ctx, p); err != nil { // it may be the dialog of the next page
			return err
		}
	}
	dialog := p.Dialog()
	c.AnswersDialog(dialog)
	var text string
	switch {
	case in.PromptText != nil:
		text = c.Agent.Secrets.Value(*in.PromptText)
	case dialog != nil: // as the user who changes nothing
		text = dialog.Default
	}
	return c.AnswerAction(sentence)(p.HandleDialog(ctx, in.Accept, text))
}

// files names files that are given to a page.
func files(paths []string) string {
	if len(paths) == 1 {
		return "the file " + list(paths)
	}
	return count(paths) + ": " + list(paths)
}

func count(paths []string) string {
	if len(paths) == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", len(paths))
}

func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = agent.Quoted(text)
	}
	return strings.Join(quoted, ", ")
}

func code(expressions ...javascript.Expression) export.Step { return export.Step{Code: expressions} }

// position is the option of an action that the mouse does at that point; nil: none.
func position(point *frame.Point) []javascript.Expression {
	if point == nil {
		return nil
	}
	return []javascript.Expression{javascript.Format("position: { x: $, y: $ }", point.X, point.Y)}
}

// object is a JavaScript object; zero for one without members.
func object(members []javascript.Expression) javascript.Expression {
	if len(members) == 0 {
		return javascript.Expression{}
	}
	return javascript.Format("{ $ }", members)
}
