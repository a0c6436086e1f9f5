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

// The mouse by coordinates is for canvases and for models that read pictures.

type pointIn struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	inPage
}

var _ = define(definition[pointIn]{
	Name: "browser_mouse_move_xy", Title: "Move the mouse", Description: "Move the mouse to a point of the viewport",
	Set: "vision", Effect: Adjusts, Category: policy.Input,
	Do: acting(func(i *input.Input, in pointIn) (string, input.Action) {
		return fmt.Sprintf("The mouse is at %g, %g", in.X, in.Y), i.Vision().Move(in.X, in.Y)
	}),
	Code: func(in pointIn, d *agent.Done) export.Step {
		return code(javascript.Of("$.mouse.move($, $)", d.Page, in.X, in.Y))
	},
	Returns: "what changed",
	Example: `{"x": 120, "y": 80}`,
})

type clickPointIn struct {
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	Button     string  `json:"button,omitempty" about:"left, right or middle"`
	ClickCount int     `json:"clickCount,omitempty"`
	Delay      float64 `json:"delay,omitempty" about:"ms that it is held"`
	inPage
}

var _ = define(definition[clickPointIn]{
	Name: "browser_mouse_click_xy", Title: "Click at a point", Description: "Click at a point",
	Set: "vision", Effect: Acts, Category: policy.Input,
	Do: acting(func(i *input.Input, in clickPointIn) (string, input.Action) {
		delay := time.Duration(in.Delay * float64(time.Millisecond))
		return fmt.Sprintf("Clicked at %g, %g", in.X, in.Y), i.Vision().Click(in.X, in.Y, in.Button, in.ClickCount, delay)
	}),
	Code: func(in clickPointIn, d *agent.Done) export.Step {
		var options []javascript.Expression
		if in.Button != "" {
			options = append(options, javascript.Of("button: $", in.Button))
		}
		if in.ClickCount > 1 {
			options = append(options, javascript.Of("clickCount: $", in.ClickCount))
		}
		if in.Delay > 0 {
			options = append(options, javascript.Of("delay: $", in.Delay))
		}
		arguments := []javascript.Expression{javascript.Of("$, $", in.X, in.Y)}
		if len(options) > 0 {
			arguments = append(arguments, object(options))
		}
		return code(javascript.Of("$.mouse.click($)", d.Page, arguments))
	},
	Returns: "what changed",
	Example: `{"x": 120, "y": 80}`,
})

type dragPointIn struct {
	StartX float64 `json:"startX"`
	StartY float64 `json:"startY"`
	EndX   float64 `json:"endX"`
	EndY   float64 `json:"endY"`
	inPage
}

var _ = define(definition[dragPointIn]{
	Name: "browser_mouse_drag_xy", Title: "Drag by points", Description: "Drag from one point to another",
	Set: "vision", Effect: Acts, Category: policy.Input,
	Do: acting(func(i *input.Input, in dragPointIn) (string, input.Action) {
		done := fmt.Sprintf("Dragged from %g, %g to %g, %g", in.StartX, in.StartY, in.EndX, in.EndY)
		return done, i.Vision().Drag(in.StartX, in.StartY, in.EndX, in.EndY)
	}),
	Code: func(in dragPointIn, d *agent.Done) export.Step {
		mouse := javascript.Of("$.mouse", d.Page)
		return code(
			javascript.Of("$.move($, $)", mouse, in.StartX, in.StartY), javascript.Of("$.down()", mouse),
			javascript.Of("$.move($, $, { steps: 5 })", mouse, in.EndX, in.EndY), javascript.Of("$.up()", mouse),
		)
	},
	Returns: "what changed",
	Example: `{"startX": 20, "startY": 20, "endX": 90, "endY": 20}`,
})

type buttonIn struct {
	Button string `json:"button,omitempty" about:"left, right or middle"`
	inPage
}

var _ = define(definition[buttonIn]{
	Name: "browser_mouse_down", Title: "Press a mouse button", Description: "Press a mouse button",
	Set: "vision", Effect: Acts, Category: policy.Input,
	Do: acting(func(i *input.Input, in buttonIn) (string, input.Action) {
		return "Pressed the button", i.Vision().Button(in.Button, true)
	}),
	Returns: "what changed",
	Example: `{}`,
})

var _ = define(definition[buttonIn]{
	Name: "browser_mouse_up", Title: "Release a mouse button", Description: "Release a mouse button",
	Set: "vision", Effect: Acts, Category: policy.Input,
	Do: acting(func(i *input.Input, in buttonIn) (string, input.Action) {
		return "Released the button", i.Vision().Button(in.Button, false)
	}),
	Returns: "what changed",
	Example: `{}`,
})

type wheelIn struct {
	DeltaX float64 `json:"deltaX,omitempty"`
	DeltaY float64 `json:"deltaY,omitempty"`
	inPage
}

var _ = define(definition[wheelIn]{
	Name: "browser_mouse_wheel", Title: "Scroll", Description: "Scroll by the mouse wheel",
	Set: "vision", Effect: Acts, Category: policy.Input,
	Do: acting(func(i *input.Input, in wheelIn) (string, input.Action) {
		return fmt.Sprintf("Turned the wheel by %g, %g", in.DeltaX, in.DeltaY), i.Vision().Wheel(in.DeltaX, in.DeltaY)
	}),
	Code: func(in wheelIn, d *agent.Done) export.Step {
		return code(javascript.Of("$.mouse.wheel($, $)", d.Page, in.DeltaX, in.DeltaY))
	},
	Returns: "what changed",
	Example: `{"deltaY": 400}`,
})
