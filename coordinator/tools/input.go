package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/tools/agent"
)

type clickIn struct {
	Element     string   `json:"element,omitempty"`
	Target      string   `json:"target" jsonschema:"ref or CSS selector"`
	DoubleClick bool     `json:"doubleClick,omitempty"`
	Button      string   `json:"button,omitempty" jsonschema:"left, right or middle" oneof:"left right middle"`
	Modifiers   []string `json:"modifiers,omitempty" jsonschema:"Alt, Control, ControlOrMeta, Meta, Shift"`
	inWindow
}

type typeIn struct {
	Element string `json:"element,omitempty"`
	Target  string `json:"target" jsonschema:"ref or CSS selector"`
	Text    string `json:"text"`
	Submit  bool   `json:"submit,omitempty" jsonschema:"then press Enter"`
	Slowly  bool   `json:"slowly,omitempty" jsonschema:"key by key"`
	inWindow
}

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
	Type    string `json:"type" jsonschema:"textbox, checkbox, radio, combobox or slider" oneof:"textbox checkbox radio combobox slider"`
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

type uploadIn struct {
	Paths  []string `json:"paths,omitempty" jsonschema:"below the workspace; none cancels"`
	Target string   `json:"target,omitempty" jsonschema:"input or button; default: the open file chooser"`
	inWindow
}

type dropIn struct {
	Element string            `json:"element,omitempty"`
	Target  string            `json:"target" jsonschema:"ref or CSS selector"`
	Paths   []string          `json:"paths,omitempty"`
	Data    map[string]string `json:"data,omitempty" jsonschema:"by MIME type"`
	inWindow
}

type dialogIn struct {
	Accept     bool   `json:"accept"`
	PromptText string `json:"promptText,omitempty"`
	inWindow
}

func (s *Server) addInputTools() {
	onPage(s, mutates("browser_click", "Click", "Click an element"), click)
	onPage(s, mutates("browser_type", "Type", "Fill a field with text"), typeText)
	onPage(s, adjusts("browser_hover", "Hover", "Move the mouse over an element"), hover)
	onPage(s, mutates("browser_press_key", "Press a key", "Press a key"), pressKey)
	onPage(s, mutates("browser_select_option", "Select options", "Choose options of a dropdown"), selectOption)
	add(s, mutates("browser_fill_form", "Fill a form", "Fill several fields at once"), fillForm)
	onPage(s, mutates("browser_drag", "Drag", "Drag one element onto another"), drag)
	add(s, mutates("browser_file_upload", "Upload files", "Give files to a file input or chooser"), upload)
	add(s, mutates("browser_drop", "Drop", "Drop files or data onto an element"), drop)
	add(s, mutates("browser_wait_for", "Wait", "Wait until all that is given is true"), waitFor)
	onPage(s, mutates("browser_handle_dialog", "Answer a dialog", "Accept or dismiss the open JavaScript dialog"), handleDialog)
}

func click(ctx context.Context, c *agent.Call, p *page.Page, in clickIn) error {
	did := c.Did(fmt.Sprintf("Clicked %s.", cmp.Or(in.Element, in.Target)))
	return did(p.Act(ctx, p.Input().Click(in.Target, input.ClickOptions{Button: in.Button, Double: in.DoubleClick, Modifiers: in.Modifiers})))
}

func typeText(ctx context.Context, c *agent.Call, p *page.Page, in typeIn) error {
	text := c.Secrets.Value(in.Text)
	change, err := p.Act(ctx, p.Input().Type(in.Target, text, input.TypeOptions{Slowly: in.Slowly, Submit: in.Submit, Secret: text != in.Text}))
	for _, h := range change.Held {
		c.Secrets.Learn(in.Text, h.Plain)
	}
	return c.Did(fmt.Sprintf("Typed into %s.", cmp.Or(in.Element, in.Target)))(change, err)
}

func hover(ctx context.Context, c *agent.Call, p *page.Page, in hoverIn) error {
	return c.Did(fmt.Sprintf("Hovering over %s.", cmp.Or(in.Element, in.Target)))(p.Act(ctx, p.Input().Hover(in.Target)))
}

func pressKey(ctx context.Context, c *agent.Call, p *page.Page, in pressKeyIn) error {
	return c.Did(fmt.Sprintf("Pressed %s.", in.Key))(p.Act(ctx, p.Input().PressKey(in.Key)))
}

func selectOption(ctx context.Context, c *agent.Call, p *page.Page, in selectIn) error {
	did := c.Did(fmt.Sprintf("Selected %s in %s.", strings.Join(in.Values, ", "), cmp.Or(in.Element, in.Target)))
	return did(p.Act(ctx, p.Input().SelectOption(in.Target, in.Values...)))
}

func fillForm(ctx context.Context, c *agent.Call, in fillFormIn) error {
	if len(in.Fields) == 0 {
		return errors.New("fields: give at least one")
	}
	fields := make([]input.Field, len(in.Fields))
	for i, f := range in.Fields {
		if err := checkValues(f); err != nil {
			return fmt.Errorf("field %d: %w", i+1, err)
		}
		value := c.Secrets.Value(f.Value)
		fields[i] = input.Field{Target: f.Target, Type: f.Type, Value: value, Secret: value != f.Value}
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	change, err := p.Act(ctx, p.Input().FillForm(fields))
	for _, h := range change.Held {
		if i := slices.IndexFunc(in.Fields, func(f fieldIn) bool { return f.Target == h.Target }); i >= 0 {
			c.Secrets.Learn(in.Fields[i].Value, h.Plain)
		}
	}
	return c.Did(fmt.Sprintf("Filled %d fields.", len(fields)))(change, err)
}

func drag(ctx context.Context, c *agent.Call, p *page.Page, in dragIn) error {
	did := c.Did(fmt.Sprintf("Dragged %s onto %s.", cmp.Or(in.StartElement, in.StartTarget), cmp.Or(in.EndElement, in.EndTarget)))
	return did(p.Act(ctx, p.Input().Drag(in.StartTarget, in.EndTarget)))
}

func upload(ctx context.Context, c *agent.Call, in uploadIn) error {
	files, err := c.Uploads(ctx, in.Paths)
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	did := c.Did(fmt.Sprintf("Put %d files into %s.", len(files), cmp.Or(in.Target, "the file chooser")))
	return did(p.Act(ctx, p.Input().Upload(in.Target, files...)))
}

func drop(ctx context.Context, c *agent.Call, in dropIn) error {
	files, err := c.Uploads(ctx, in.Paths)
	if err != nil {
		return fmt.Errorf("drop: %w", err)
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d files", len(files))
	if len(in.Data) > 0 {
		what = fmt.Sprint(slices.Sorted(maps.Keys(in.Data)))
	}
	did := c.Did(fmt.Sprintf("Dropped %s onto %s.", what, cmp.Or(in.Element, in.Target)))
	return did(p.Act(ctx, p.Input().Drop(in.Target, files, in.Data)))
}

func handleDialog(ctx context.Context, c *agent.Call, p *page.Page, in dialogIn) error {
	did := "Dismissed the dialog."
	if in.Accept {
		did = "Accepted the dialog."
	}
	return c.Did(did)(p.HandleDialog(ctx, in.Accept, c.Secrets.Value(in.PromptText)))
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

// longestWait is Playwright MCP's limit too.
const longestWait = 30 * time.Second

func waitFor(ctx context.Context, c *agent.Call, in waitIn) error {
	limit := time.Duration(in.Time * float64(time.Second))
	if limit < 0 || limit > longestWait {
		return fmt.Errorf("time: want 0 to %.0f seconds", longestWait.Seconds())
	}
	wait := page.WaitOptions{
		Text: in.Text, Gone: in.TextGone, URL: in.URL, Expression: in.Expression, Idle: in.NetworkIdle,
	}
	if wait == (page.WaitOptions{}) {
		if limit == 0 {
			return errors.New("nothing to wait for: give text, textGone, url, expression, networkIdle or time")
		}
		// The agent requests this time: here a fixed time is no stopgap.
		select {
		case <-time.After(limit):
			return c.Done(nil, "Waited %v.", limit)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	wait.Timeout = limit
	met := "It is so now."
	switch {
	case in.Text != "" && in.TextGone == "":
		met = "It is there."
	case in.TextGone != "" && in.Text == "":
		met = "It is gone."
	}
	return c.Did(met)(p.WaitFor(ctx, wait))
}

// The mouse by coordinates is for canvases and for models that read pictures. It exists
// only with the set of tools named vision.

type pointIn struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	inWindow
}

type clickPointIn struct {
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	Button     string  `json:"button,omitempty" jsonschema:"left, right or middle"`
	ClickCount int     `json:"clickCount,omitempty"`
	Delay      float64 `json:"delay,omitempty" jsonschema:"ms that it is held"`
	inWindow
}

type dragPointIn struct {
	StartX float64 `json:"startX"`
	StartY float64 `json:"startY"`
	EndX   float64 `json:"endX"`
	EndY   float64 `json:"endY"`
	inWindow
}

type buttonIn struct {
	Button string `json:"button,omitempty" jsonschema:"left, right or middle"`
	inWindow
}

type wheelIn struct {
	DeltaX float64 `json:"deltaX,omitempty"`
	DeltaY float64 `json:"deltaY,omitempty"`
	inWindow
}

func (s *Server) addMouseTools() {
	onPage(s, adjusts("browser_mouse_move_xy", "Move the mouse", "Move the mouse to a point of the viewport"), mouseMove)
	onPage(s, mutates("browser_mouse_click_xy", "Click at a point", "Click at a point"), mouseClick)
	onPage(s, mutates("browser_mouse_drag_xy", "Drag by points", "Drag from one point to another"), mouseDrag)
	onPage(s, mutates("browser_mouse_down", "Press a mouse button", "Press a mouse button"), mouseDown)
	onPage(s, mutates("browser_mouse_up", "Release a mouse button", "Release a mouse button"), mouseUp)
	onPage(s, mutates("browser_mouse_wheel", "Scroll", "Scroll by the mouse wheel"), mouseWheel)
}

func mouseMove(ctx context.Context, c *agent.Call, p *page.Page, in pointIn) error {
	return c.Did(fmt.Sprintf("The mouse is at %g, %g.", in.X, in.Y))(p.Act(ctx, p.Input().MouseMove(in.X, in.Y)))
}

func mouseClick(ctx context.Context, c *agent.Call, p *page.Page, in clickPointIn) error {
	delay := time.Duration(in.Delay * float64(time.Millisecond))
	return c.Did(fmt.Sprintf("Clicked at %g, %g.", in.X, in.Y))(p.Act(ctx, p.Input().MouseClick(in.X, in.Y, in.Button, in.ClickCount, delay)))
}

func mouseDrag(ctx context.Context, c *agent.Call, p *page.Page, in dragPointIn) error {
	did := c.Did(fmt.Sprintf("Dragged from %g, %g to %g, %g.", in.StartX, in.StartY, in.EndX, in.EndY))
	return did(p.Act(ctx, p.Input().MouseDrag(in.StartX, in.StartY, in.EndX, in.EndY)))
}

func mouseDown(ctx context.Context, c *agent.Call, p *page.Page, in buttonIn) error {
	return c.Did("Pressed the button.")(p.Act(ctx, p.Input().MouseButton(in.Button, true)))
}

func mouseUp(ctx context.Context, c *agent.Call, p *page.Page, in buttonIn) error {
	return c.Did("Released the button.")(p.Act(ctx, p.Input().MouseButton(in.Button, false)))
}

func mouseWheel(ctx context.Context, c *agent.Call, p *page.Page, in wheelIn) error {
	return c.Did(fmt.Sprintf("Scrolled by %g, %g.", in.DeltaX, in.DeltaY))(p.Act(ctx, p.Input().MouseWheel(in.DeltaX, in.DeltaY)))
}
