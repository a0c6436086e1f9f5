package input

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// mouse is the mouse of one page.
type mouse struct {
	session   *cdp.Session
	sentCount *atomic.Int64     // as Input.sentCount
	acts      func(frame.Point) // see Options.Acts

	mu       sync.Mutex // guards the field that follows
	position pointer
}

// pointer is the position of the mouse and its held buttons.
type pointer struct {
	x, y    float64
	buttons int64
	button  input.MouseButton // the last pressed button that is still held
}

func (m *mouse) currentPosition() pointer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.position
}

func (m *mouse) set(position pointer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.position = position
}

// move moves the mouse in preparation of an action; it does not count as input.
func (m *mouse) move(ctx context.Context, x, y float64) error {
	m.acts(frame.Point{X: x, Y: y})
	m.set(pointer{x: x, y: y})
	event := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y}
	return m.session.Call(ctx, input.CommandDispatchMouseEvent, event, nil)
}

// send sends events together, in an order that the browser keeps, then waits until the
// page has received them all.
func (m *mouse) send(
	ctx context.Context, x, y float64, modifiers int64, events []input.DispatchMouseEventParams,
) error {
	m.acts(frame.Point{X: x, Y: y})
	m.sentCount.Add(1)
	commands := make([]*cdp.Pending, 0, len(events))
	for _, e := range events {
		e.X, e.Y, e.Modifiers = x, y, modifiers
		pending, err := m.session.Start(ctx, input.CommandDispatchMouseEvent, e)
		if err != nil {
			return err
		}
		commands = append(commands, pending)
		position := pointer{x: x, y: y, buttons: e.Buttons}
		if e.Buttons != 0 {
			position.button = e.Button
		}
		m.set(position)
	}
	return waitAll(ctx, commands)
}

// drag sends events of dragged data at a point. The page gets no button event, because a
// drag replaces the mouse events.
func (m *mouse) drag(
	ctx context.Context, data *input.DragData, x, y float64, kinds ...input.DispatchDragEventType,
) error {
	m.acts(frame.Point{X: x, Y: y})
	m.sentCount.Add(1)
	for _, kind := range kinds {
		err := m.session.Call(ctx, input.CommandDispatchDragEvent, input.DispatchDragEventParams{
			Type: kind, X: x, Y: y, Data: data,
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// Release releases the buttons of the mouse that the agent holds.
func (i *Input) Release(ctx context.Context) error {
	at := i.mouse.currentPosition()
	var events []input.DispatchMouseEventParams
	for _, name := range []string{"left", "right", "middle"} {
		button, mask, err := mouseButton(name)
		if err != nil || at.buttons&mask == 0 {
			continue
		}
		at.buttons &^= mask
		events = append(events, input.DispatchMouseEventParams{
			Type: input.DispatchMouseEventTypeMouseReleased, Button: button, Buttons: at.buttons, ClickCount: 1,
		})
	}
	if len(events) == 0 {
		return nil
	}
	return i.mouse.send(ctx, at.x, at.y, 0, events)
}

// clicks returns a movement and count clicks of a button with that mask.
func clicks(button input.MouseButton, mask int64, count int) []input.DispatchMouseEventParams {
	events := []input.DispatchMouseEventParams{{Type: input.DispatchMouseEventTypeMouseMoved}}
	for n := 1; n <= count; n++ {
		events = append(events,
			input.DispatchMouseEventParams{
				Type: input.DispatchMouseEventTypeMousePressed, Button: button, Buttons: mask, ClickCount: int64(n),
			},
			input.DispatchMouseEventParams{
				Type: input.DispatchMouseEventTypeMouseReleased, Button: button, ClickCount: int64(n),
			})
	}
	return events
}

func waitAll(ctx context.Context, commands []*cdp.Pending) error {
	var first error
	for _, pending := range commands {
		if err := pending.Wait(ctx, nil); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func mouseButton(name string) (input.MouseButton, int64, error) {
	switch name {
	case "", "left":
		return input.MouseButtonLeft, 1, nil
	case "right":
		return input.MouseButtonRight, 2, nil
	case "middle":
		return input.MouseButtonMiddle, 4, nil
	}
	return "", 0, fmt.Errorf("unknown mouse button %q: left, right and middle are known", name)
}
