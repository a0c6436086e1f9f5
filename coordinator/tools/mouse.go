package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
	add(s, &mcp.Tool{Name: "browser_mouse_move_xy", Description: "Move the mouse to a point of the viewport", Annotations: adjusts("Move the mouse")}, mouseMove)
	add(s, &mcp.Tool{Name: "browser_mouse_click_xy", Description: "Click at a point", Annotations: acts("Click at a point")}, mouseClick)
	add(s, &mcp.Tool{Name: "browser_mouse_drag_xy", Description: "Drag from one point to another", Annotations: acts("Drag by points")}, mouseDrag)
	add(s, &mcp.Tool{Name: "browser_mouse_down", Description: "Press a mouse button", Annotations: acts("Press a mouse button")}, mouseDown)
	add(s, &mcp.Tool{Name: "browser_mouse_up", Description: "Release a mouse button", Annotations: acts("Release a mouse button")}, mouseUp)
	add(s, &mcp.Tool{Name: "browser_mouse_wheel", Description: "Scroll by the mouse wheel", Annotations: acts("Scroll")}, mouseWheel)
}

func mouseMove(ctx context.Context, a *agent, in pointIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did(fmt.Sprintf("The mouse is at %g, %g.", in.X, in.Y))(p.Act(ctx, p.Input().MouseMove(in.X, in.Y)))
}

func mouseClick(ctx context.Context, a *agent, in clickPointIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	delay := time.Duration(in.Delay * float64(time.Millisecond))
	return a.did(fmt.Sprintf("Clicked at %g, %g.", in.X, in.Y))(p.Act(ctx, p.Input().MouseClick(in.X, in.Y, in.Button, in.ClickCount, delay)))
}

func mouseDrag(ctx context.Context, a *agent, in dragPointIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	did := a.did(fmt.Sprintf("Dragged from %g, %g to %g, %g.", in.StartX, in.StartY, in.EndX, in.EndY))
	return did(p.Act(ctx, p.Input().MouseDrag(in.StartX, in.StartY, in.EndX, in.EndY)))
}

func mouseDown(ctx context.Context, a *agent, in buttonIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did("Pressed the button.")(p.Act(ctx, p.Input().MouseButton(in.Button, true)))
}

func mouseUp(ctx context.Context, a *agent, in buttonIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did("Released the button.")(p.Act(ctx, p.Input().MouseButton(in.Button, false)))
}

func mouseWheel(ctx context.Context, a *agent, in wheelIn) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	return a.did(fmt.Sprintf("Scrolled by %g, %g.", in.DeltaX, in.DeltaY))(p.Act(ctx, p.Input().MouseWheel(in.DeltaX, in.DeltaY)))
}
