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

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/tools/agent"
)

// targetIn is embedded by the arguments of the tools that work with an element.
type targetIn struct {
	Target string `json:"target" jsonschema:"ref or selector"`
}

// actsIn is inPage for the actions that are used most: there the agent chooses how much the
// answer shows of what has changed.
type actsIn struct {
	Changes string `json:"changes,omitempty" jsonschema:"none, short (default) or full" oneof:"none short full"`
	inPage
}

func (in actsIn) changes() string { return in.Changes }

type elementIn struct {
	targetIn
	inPage
}

type hoverIn struct {
	Target   string       `json:"target,omitempty" jsonschema:"ref or selector"`
	Position *frame.Point `json:"position,omitempty" jsonschema:"{x, y} in it; without target in the viewport"`
	DeltaX   float64      `json:"deltaX,omitempty"`
	DeltaY   float64      `json:"deltaY,omitempty" jsonschema:"then turn the wheel"`
	inPage
}

type clickIn struct {
	targetIn
	DoubleClick bool     `json:"doubleClick,omitempty"`
	Button      string   `json:"button,omitempty" jsonschema:"left, right or middle" oneof:"left right middle"`
	Modifiers   []string `json:"modifiers,omitempty" jsonschema:"Alt, Control, ControlOrMeta, Meta, Shift"`
	// Position is Playwright's.
	Position *frame.Point `json:"position,omitempty" jsonschema:"{x, y} from its top left; default: its middle"`
	actsIn
}

type typeIn struct {
	Target string `json:"target,omitempty" jsonschema:"default: the caret"`
	Text   string `json:"text"`
	Submit bool   `json:"submit,omitempty" jsonschema:"then press Enter"`
	Slowly bool   `json:"slowly,omitempty" jsonschema:"add key by key at the end"`
	actsIn
}

type pressKeyIn struct {
	Key    string `json:"key" jsonschema:"Enter, ArrowLeft, a, Control+A"`
	Target string `json:"target,omitempty" jsonschema:"unlisted"`
	actsIn
}

type selectIn struct {
	targetIn
	Values []string `json:"values" jsonschema:"labels or values"`
	inPage
}

type fieldIn struct {
	Target string `json:"target"`
	// Values are those of a list that is given as the value.
	Values []string `json:"values,omitempty" jsonschema:"unlisted"`
	Type   string   `json:"type,omitempty" jsonschema:"default: what the field is" oneof:"textbox checkbox radio combobox slider"`
	Value  string   `json:"value" jsonschema:"text, number, true, false or the option's label"`
}

type fillFormIn struct {
	Fields []fieldIn `json:"fields"`
	actsIn
}

type dragIn struct {
	StartTarget string       `json:"startTarget"`
	EndTarget   string       `json:"endTarget,omitempty"`
	Offset      *frame.Point `json:"offset,omitempty" jsonschema:"{x, y} instead of endTarget"`
	// These are Playwright's sourcePosition and targetPosition.
	StartPosition *frame.Point `json:"startPosition,omitempty" jsonschema:"unlisted"`
	EndPosition   *frame.Point `json:"endPosition,omitempty" jsonschema:"unlisted"`
	inPage
}

type uploadIn struct {
	Paths  []string `json:"paths,omitempty" jsonschema:"in the workspace; [] cancels"`
	Target string   `json:"target,omitempty" jsonschema:"input or button; default: the open chooser"`
	inPage
}

type dropIn struct {
	targetIn
	Paths []string          `json:"paths,omitempty"`
	Data  map[string]string `json:"data,omitempty" jsonschema:"by MIME type"`
	inPage
}

type dialogIn struct {
	Accept     bool    `json:"accept"`
	PromptText *string `json:"promptText,omitempty"`
	// Time is 0 for a dialog that is open; a step waits for one.
	Time float64 `json:"time,omitempty" jsonschema:"seconds to wait for it"`
	inPage
}

func (s *Server) addInputTools() {
	action(s, mutates("browser_click", "Click", "Click an element"), click)
	onPage(s, mutates("browser_type", "Type", "Replace the text of a field, or add to it with slowly"), typeText)
	action(s, adjusts("browser_hover", "Hover", "Move the mouse over an element"), func(i *input.Input, in hoverIn) (string, input.Action) {
		return in.done(), i.Hover(in.Target, input.HoverOptions{At: in.Position, DX: in.DeltaX, DY: in.DeltaY})
	})
	onPage(s, mutates("browser_press_key", "Press key", "Press a key"), pressKey)
	action(s, mutates("browser_select_option", "Select option", "Choose options of a dropdown"), func(i *input.Input, in selectIn) (string, input.Action) {
		return fmt.Sprintf("Selected %s in", strings.Join(in.Values, ", ")), i.SelectOption(in.Target, in.Values...)
	})
	add(s, mutates("browser_fill_form", "Fill form", "Fill several fields at once"), fillForm)
	action(s, mutates("browser_drag", "Drag", "Drag an element onto another"), func(i *input.Input, in dragIn) (string, input.Action) {
		switch {
		case (in.EndTarget == "") == (in.Offset == nil), in.EndTarget == "" && in.EndPosition != nil:
			return "", input.Action{Err: errors.New("give an endTarget, or an offset in CSS pixels")}
		case in.Offset != nil:
			return fmt.Sprintf("Dragged by %g, %g:", in.Offset.X, in.Offset.Y), i.DragBy(in.StartTarget, in.StartPosition, *in.Offset)
		}
		return "Dragged", i.DragTo(in.StartTarget, in.StartPosition, in.EndTarget, in.EndPosition)
	})
	add(s, mutates("browser_file_upload", "File upload", "Give files to a file input or chooser"), upload)
	add(s, mutates("browser_drop", "Drop", "Drop files or data onto an element"), drop)
	add(s, mutates("browser_wait_for", "Wait", "Wait until all that is given is true"), waitFor)
	onPage(s, mutates("browser_handle_dialog", "Answer a dialog", "Accept or dismiss the open JavaScript dialog"), handleDialog)
}

// done is what the answer says is done to the target.
func (in hoverIn) done() string {
	at := ""
	if in.Target == "" && in.Position != nil {
		at = fmt.Sprintf(" at %g, %g", in.Position.X, in.Position.Y)
	}
	turned := fmt.Sprintf("Turned the wheel by %g, %g", in.DeltaX, in.DeltaY)
	switch {
	case in.turns() && in.Target != "":
		return turned + " over"
	case in.turns():
		return turned + at
	case in.Target == "":
		return "The mouse is" + at
	}
	return "Hovering over"
}

// turns reports whether the wheel is turned.
func (in hoverIn) turns() bool { return in.DeltaX != 0 || in.DeltaY != 0 }

// action registers a tool for an action in the page. do returns the action, and what the
// answer says is done to its elements.
func action[In any](s *Server, tool *mcp.Tool, do func(*input.Input, In) (done string, _ input.Action)) {
	onPage(s, tool, func(ctx context.Context, c *agent.Call, p *page.Page, in In) error {
		done, action := do(p.Input(), in)
		return c.Acted(done, " onto ")(c.Act(ctx, p, action))
	})
}

func pressKey(ctx context.Context, c *agent.Call, p *page.Page, in pressKeyIn) error {
	press := p.Input().PressKey(in.Key)
	if in.Target != "" {
		press = p.Input().PressKeyIn(in.Target, in.Key)
	}
	change, err := c.Act(ctx, p, press)
	done := "Pressed " + in.Key
	if len(change.On) > 0 && change.On[0].Role != "" {
		done += " in"
	}
	return c.Acted(done, "")(change, err)
}

func click(i *input.Input, in clickIn) (done string, _ input.Action) {
	return in.verb("Clicked", "Double-clicked", "-clicked"), i.Click(in.Target, input.ClickOptions{Button: in.Button, Double: in.DoubleClick, Modifiers: in.Modifiers, At: in.Position})
}

func typeText(ctx context.Context, c *agent.Call, p *page.Page, in typeIn) error {
	if err := c.Secrets.Typable(in.Text); err != nil {
		return err
	}
	text := c.Secrets.Value(in.Text)
	options := input.TypeOptions{Slowly: in.Slowly, Submit: in.Submit, Secret: text != in.Text}
	typing := p.Input().Type(in.Target, text, options)
	if in.Target == "" {
		typing = p.Input().TypeAtFocus(text, options)
	}
	change, err := c.Act(ctx, p, typing)
	for _, h := range slices.Concat(change.Held, change.Passed) {
		c.Secrets.Learn(in.Text, h.Plain)
	}
	done := "Typed into"
	if in.Target == "" && (len(change.On) == 0 || change.On[0].Role == "") {
		done = "Typed"
	}
	return c.Acted(done, "")(change, err)
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
		if err := c.Secrets.Typable(f.Value); err != nil {
			return fmt.Errorf("field %d: %w", i+1, err)
		}
		value := c.Secrets.Value(f.Value)
		fields[i] = input.Field{Target: f.Target, Type: f.Type, Value: value, Values: f.Values, Secret: value != f.Value}
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	change, err := c.Act(ctx, p, p.Input().FillForm(fields))
	for _, h := range slices.Concat(change.Held, change.Passed) {
		if i := slices.IndexFunc(in.Fields, func(f fieldIn) bool { return f.Target == h.Target }); i >= 0 {
			c.Secrets.Learn(in.Fields[i].Value, h.Plain)
		}
	}
	done := fmt.Sprintf("Filled %d fields:", len(fields))
	if len(fields) == 1 {
		done = cmp.Or(map[string]string{"checkbox true": "Checked", "checkbox false": "Unchecked"}[fields[0].Type+" "+fields[0].Value], "Filled")
	}
	return c.Acted(done, ", ")(change, err)
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
	did := c.Acted(fmt.Sprintf("Put %s into", count(files)), "")
	return did(c.Act(ctx, p, p.Input().Upload(in.Target, files...)))
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
	what := count(files)
	if len(in.Data) > 0 {
		what = fmt.Sprint(slices.Sorted(maps.Keys(in.Data)))
	}
	did := c.Acted(fmt.Sprintf("Dropped %s onto", what), "")
	return did(c.Act(ctx, p, p.Input().Drop(in.Target, files, in.Data)))
}

func handleDialog(ctx context.Context, c *agent.Call, p *page.Page, in dialogIn) error {
	did := "Dismissed the dialog."
	if in.Accept {
		did = "Accepted the dialog."
	}
	limit := time.Duration(in.Time * float64(time.Second))
	if limit < 0 || limit > longestWait {
		return fmt.Errorf("time: want 0 to %.0f seconds", longestWait.Seconds())
	}
	if limit > 0 {
		if err := p.AwaitDialog(ctx, limit); err != nil {
			return err
		}
	}
	dialog := p.Dialog()
	c.AnswersDialog(dialog)
	var text string
	switch {
	case in.PromptText != nil:
		text = c.Secrets.Value(*in.PromptText)
	case dialog != nil: // as the user who changes nothing
		text = dialog.Default
	}
	return c.Did(did)(p.HandleDialog(ctx, in.Accept, text))
}

type waitIn struct {
	Target   string `json:"target,omitempty" jsonschema:"unlisted"`
	Text     string `json:"text,omitempty"`
	New      bool   `json:"new,omitempty" jsonschema:"of text: another one"`
	TextGone string `json:"textGone,omitempty"`
	URL      string `json:"url,omitempty" jsonschema:"part of it"`
	// Expression is JavaScript of the page's own world.
	Expression  string  `json:"expression,omitempty" jsonschema:"JavaScript that becomes true"`
	NetworkIdle bool    `json:"networkIdle,omitempty"`
	Time        float64 `json:"time,omitempty" jsonschema:"seconds, default 30; alone: just wait"`
	inPage
}

func (waitIn) Waits() {}

// longestWait is Playwright MCP's limit too.
const longestWait = 30 * time.Second

func waitFor(ctx context.Context, c *agent.Call, in waitIn) error {
	limit := time.Duration(in.Time * float64(time.Second))
	if limit < 0 {
		return errors.New("time: want 0 seconds or more")
	}
	wait := page.WaitOptions{
		Target: in.Target, Text: in.Text, New: in.New, Gone: in.TextGone, URL: in.URL, Expression: in.Expression, Idle: in.NetworkIdle,
	}
	if wait == (page.WaitOptions{}) {
		if limit == 0 {
			return errors.New("nothing to wait for: give text, textGone, url, expression, networkIdle or time")
		}
		if limit > longestWait {
			return fmt.Errorf("time: want at most %.0f seconds", longestWait.Seconds())
		}
		return rest(ctx, c, limit)
	}
	p, err := c.Page(ctx)
	if err != nil {
		return err
	}
	wait.Timeout = min(limit, longestWait)
	met := "It is so now."
	switch {
	case in.Text+in.Target != "" && in.TextGone == "":
		met = "It is there."
	case in.TextGone != "" && in.Text == "":
		met = "It is gone."
	}
	change, err := p.WaitFor(ctx, wait)
	if change.Already && !c.Stepwise { // a step expects what the one before it has done
		met = map[string]string{"It is there.": "It was there already.", "It is gone.": "It was gone already.", "It is so now.": "It was so already."}[met]
		if in.Text != "" && in.Target == "" {
			met += " With new: true, this waits for another."
		}
	}
	if err := c.Did(met)(change, err); err != nil || in.Text == "" || c.Brief {
		return err
	}
	if c.Test != nil {
		frame, _ := p.Reader().VerifyText(ctx, in.Text) // it may have gone again
		c.SeenIn(frame)
	}
	if strings.Contains(strings.ToLower(c.Look(ctx, c.Out)), strings.ToLower(in.Text)) {
		return nil
	}
	// What it stands in, with refs. It may have gone again, or the page have paused.
	found, err := p.Reader().Find(ctx, snapshot.FindOptions{Text: in.Text, Most: shownWaited, Hide: c.Secrets.Hide})
	if err == nil && found.Matches > 0 {
		c.Out.Quote(strings.TrimSuffix(found.Text, "\n"))
		return nil
	}
	var gone *snapshot.VerifyError
	if _, err := p.Reader().VerifyText(ctx, in.Text); in.Target == "" && errors.As(err, &gone) && !gone.There {
		c.Out.Quotef("But now %v.", gone)
	}
	return nil
}

// rest waits for the time that the agent requests: here a fixed time is no stopgap. An agent
// that has no browser yet gets none for it.
func rest(ctx context.Context, c *agent.Call, d time.Duration) error {
	waited := fmt.Sprintf("Waited %v.", d)
	if c.HasBrowser() {
		if p, err := c.Page(ctx); err == nil {
			return c.Did(waited)(p.Rest(ctx, d))
		}
	}
	select {
	case <-time.After(d):
		return c.Done(nil, "%s", waited)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shownWaited is how many places of a text are shown that was waited for.
const shownWaited = 3

// The mouse by coordinates is for canvases and for models that read pictures. It exists
// only with the set of tools named vision.

type pointIn struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	inPage
}

type clickPointIn struct {
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	Button     string  `json:"button,omitempty" jsonschema:"left, right or middle"`
	ClickCount int     `json:"clickCount,omitempty"`
	Delay      float64 `json:"delay,omitempty" jsonschema:"ms that it is held"`
	inPage
}

type dragPointIn struct {
	StartX float64 `json:"startX"`
	StartY float64 `json:"startY"`
	EndX   float64 `json:"endX"`
	EndY   float64 `json:"endY"`
	inPage
}

type buttonIn struct {
	Button string `json:"button,omitempty" jsonschema:"left, right or middle"`
	inPage
}

type wheelIn struct {
	DeltaX float64 `json:"deltaX,omitempty"`
	DeltaY float64 `json:"deltaY,omitempty"`
	inPage
}

func (s *Server) addMouseTools() {
	action(s, adjusts("browser_mouse_move_xy", "Move the mouse", "Move the mouse to a point of the viewport"), func(i *input.Input, in pointIn) (string, input.Action) {
		return fmt.Sprintf("The mouse is at %g, %g", in.X, in.Y), i.Vision().Move(in.X, in.Y)
	})
	action(s, mutates("browser_mouse_click_xy", "Click at a point", "Click at a point"), func(i *input.Input, in clickPointIn) (string, input.Action) {
		delay := time.Duration(in.Delay * float64(time.Millisecond))
		return fmt.Sprintf("Clicked at %g, %g", in.X, in.Y), i.Vision().Click(in.X, in.Y, in.Button, in.ClickCount, delay)
	})
	action(s, mutates("browser_mouse_drag_xy", "Drag by points", "Drag from one point to another"), func(i *input.Input, in dragPointIn) (string, input.Action) {
		done := fmt.Sprintf("Dragged from %g, %g to %g, %g", in.StartX, in.StartY, in.EndX, in.EndY)
		return done, i.Vision().Drag(in.StartX, in.StartY, in.EndX, in.EndY)
	})
	action(s, mutates("browser_mouse_down", "Press a mouse button", "Press a mouse button"), func(i *input.Input, in buttonIn) (string, input.Action) {
		return "Pressed the button", i.Vision().Button(in.Button, true)
	})
	action(s, mutates("browser_mouse_up", "Release a mouse button", "Release a mouse button"), func(i *input.Input, in buttonIn) (string, input.Action) {
		return "Released the button", i.Vision().Button(in.Button, false)
	})
	action(s, mutates("browser_mouse_wheel", "Scroll", "Scroll by the mouse wheel"), func(i *input.Input, in wheelIn) (string, input.Action) {
		return fmt.Sprintf("Turned the wheel by %g, %g", in.DeltaX, in.DeltaY), i.Vision().Wheel(in.DeltaX, in.DeltaY)
	})
}
