package tools

import (
	"fmt"
	"time"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/policy"
)

// defineMouse defines a tool for the mouse by coordinates, which is for canvases and for models
// that read pictures. do returns what is done, and the action; code is nil if a test cannot
// repeat it.
func defineMouse[In any](
	t Tool, do func(input.Vision, In) (string, input.Action),
	code func(In, javascript.Expression) []javascript.Expression,
) *Tool {
	t.Set, t.Category, t.AnyFrame = "vision", policy.Input, true
	does := calls[In]{Do: acting(func(i *input.Input, in In) (string, input.Action) { return do(i.Vision(), in) })}
	if code != nil {
		does.Code = func(in In, done *agent.Record) export.Step {
			return export.Step{Code: code(in, javascript.Format("$.mouse", done.Page))}
		}
	}
	return define(t, does)
}

type pointIn struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	inPage
}

var _ = defineMouse(Tool{
	Name: "browser_mouse_move_xy", Title: "Move the mouse", Description: "Move the mouse to a point of the viewport",
	Effect: Adjusts, Example: `{"x": 120, "y": 80}`,
},
	func(v input.Vision, in pointIn) (string, input.Action) {
		return fmt.Sprintf("The mouse is at %g, %g", in.X, in.Y), v.Move(in.X, in.Y)
	},
	func(in pointIn, mouse javascript.Expression) []javascript.Expression {
		return []javascript.Expression{javascript.Format("$.move($, $)", mouse, in.X, in.Y)}
	},
)

type clickPointIn struct {
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	Button     string  `json:"button,omitempty" oneof:"left right middle"`
	ClickCount int     `json:"clickCount,omitempty"`
	Delay      float64 `json:"delay,omitempty" about:"ms that it is held"`
	inPage
}

var _ = defineMouse(Tool{
	Name: "browser_mouse_click_xy", Title: "Click at a point", Description: "Click at a point",
	Effect: Acts, Example: `{"x": 120, "y": 80}`,
},
	func(v input.Vision, in clickPointIn) (string, input.Action) {
		delay := time.Duration(in.Delay * float64(time.Millisecond))
		return fmt.Sprintf("Clicked at %g, %g", in.X, in.Y), v.Click(in.X, in.Y, in.Button, in.ClickCount, delay)
	},
	func(in clickPointIn, mouse javascript.Expression) []javascript.Expression {
		var options []javascript.Expression
		if in.Button != "" {
			options = append(options, javascript.Format("button: $", in.Button))
		}
		if in.ClickCount > 1 {
			options = append(options, javascript.Format("clickCount: $", in.ClickCount))
		}
		if in.Delay > 0 {
			options = append(options, javascript.Format("delay: $", in.Delay))
		}
		arguments := []javascript.Expression{javascript.Format("$, $", in.X, in.Y)}
		if len(options) > 0 {
			arguments = append(arguments, object(options))
		}
		return []javascript.Expression{javascript.Format("$.click($)", mouse, arguments)}
	},
)

type dragPointIn struct {
	StartX float64 `json:"startX"`
	StartY float64 `json:"startY"`
	EndX   float64 `json:"endX"`
	EndY   float64 `json:"endY"`
	inPage
}

var _ = defineMouse(Tool{
	Name: "browser_mouse_drag_xy", Title: "Drag by points", Description: "Drag from one point to another",
	Effect: Acts, Example: `{"startX": 20, "startY": 20, "endX": 90, "endY": 20}`,
},
	func(v input.Vision, in dragPointIn) (string, input.Action) {
		done := fmt.Sprintf("Dragged from %g, %g to %g, %g", in.StartX, in.StartY, in.EndX, in.EndY)
		return done, v.Drag(in.StartX, in.StartY, in.EndX, in.EndY)
	},
	func(in dragPointIn, mouse javascript.Expression) []javascript.Expression {
		return []javascript.Expression{
			javascript.Format("$.move($, $)", mouse, in.StartX, in.StartY), javascript.Format("$.down()", mouse),
			javascript.Format("$.move($, $, { steps: 5 })", mouse, in.EndX, in.EndY), javascript.Format("$.up()", mouse),
		}
	},
)

type buttonIn struct {
	Button string `json:"button,omitempty" oneof:"left right middle"`
	inPage
}

var _ = defineMouse(Tool{
	Name: "browser_mouse_down", Title: "Press a mouse button", Description: "Press a mouse button",
	Effect: Acts, Example: `{}`,
},
	func(v input.Vision, in buttonIn) (string, input.Action) {
		return "Pressed the button", v.Button(in.Button, true)
	}, nil,
)

var _ = defineMouse(Tool{
	Name: "browser_mouse_up", Title: "Release a mouse button", Description: "Release a mouse button",
	Effect: Acts, Example: `{}`,
},
	func(v input.Vision, in buttonIn) (string, input.Action) {
		return "Released the button", v.Button(in.Button, false)
	}, nil,
)

type wheelIn struct {
	DeltaX float64 `json:"deltaX,omitempty"`
	DeltaY float64 `json:"deltaY,omitempty"`
	inPage
}

var _ = defineMouse(Tool{
	Name: "browser_mouse_wheel", Title: "Scroll", Description: "Scroll by the mouse wheel",
	Effect: Acts, Example: `{"deltaY": 400}`,
},
	func(v input.Vision, in wheelIn) (string, input.Action) {
		return fmt.Sprintf("Turned the wheel by %g, %g", in.DeltaX, in.DeltaY), v.Wheel(in.DeltaX, in.DeltaY)
	},
	func(in wheelIn, mouse javascript.Expression) []javascript.Expression {
		return []javascript.Expression{javascript.Format("$.wheel($, $)", mouse, in.DeltaX, in.DeltaY)}
	},
)
