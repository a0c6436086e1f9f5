package page

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// point is the target of a benchmark's raw mouse events.
type point struct{ x, y float64 }

// pointOf is the middle of a target, scrolled into view.
func pointOf(b *testing.B, p *Page, target string) point {
	b.Helper()
	e, err := p.frames.Find(b.Context(), target)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Release(b.Context())
	at, err := p.frames.Place(b.Context(), e, "nearest")
	if err != nil {
		b.Fatal(err)
	}
	return point{at.X + at.Width/2, at.Y + at.Height/2}
}

// The mouse events of a click.
var (
	rawMove    = input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved}
	rawPress   = input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}
	rawDrag    = input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, Button: input.MouseButtonLeft, Buttons: 1}
	rawRelease = input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1}
)

// rawMouse sends mouse events as every client does: one after the other.
func rawMouse(ctx context.Context, p *Page, at point, events ...input.DispatchMouseEventParams) error {
	for _, e := range events {
		e.X, e.Y = at.x, at.y
		if err := p.session.Call(ctx, input.CommandDispatchMouseEvent, e, nil); err != nil {
			return err
		}
	}
	return nil
}

func rawInsert(ctx context.Context, p *Page, text string) error {
	return p.session.Call(ctx, input.CommandInsertText, input.InsertTextParams{Text: text}, nil)
}

func rawKey(ctx context.Context, p *Page, key string) error {
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		e := input.DispatchKeyEventParams{Type: kind, Key: key}
		if kind == input.DispatchKeyEventTypeKeyDown {
			e.Text = key
		}
		if err := p.session.Call(ctx, input.CommandDispatchKeyEvent, e, nil); err != nil {
			return err
		}
	}
	return nil
}
