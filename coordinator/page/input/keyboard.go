package input

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
)

// keyboard is the keyboard of one page.
type keyboard struct {
	session   *cdp.Session
	sentCount *atomic.Int64 // as Input.sentCount
	life      *lifecycle.Lifecycle
}

// PressKey presses a key, or a key with modifiers, in the focused element.
func (i *Input) PressKey(spec string) Action {
	if _, _, err := parseKey(spec); err != nil {
		return Action{Err: err}
	}
	return Action{Operation: "pressing " + spec, Arrives: true, Do: func(ctx context.Context, out *Outcome) error {
		if _, err := i.focus(ctx, out); err != nil {
			return err
		}
		err := i.keyboard.press(ctx, spec)
		if err == nil && spec == "Escape" && i.opts.Lifecycle.IsLeaving() { // as in a browser's window
			_, err = i.opts.Session.Start(ctx, cdppage.CommandStopLoading, nil)
		}
		if err == nil && spec == "Escape" {
			_, _ = frame.EvaluateEntered[int](ctx, i.opts.Frames, "(document[$.exitPointerLock](), 0)") // likewise
		}
		return err
	}}
}

// focus is what gets the keys; the action acts on it.
func (i *Input) focus(ctx context.Context, out *Outcome) (focus frame.Focus, err error) {
	if err := i.opts.Lifecycle.UnlessLeaving(ctx, i.opts.Screen.EmulateFocus); err != nil &&
		err != lifecycle.ErrLeaving {
		return focus, err
	}
	// A page that is leaving gets the key without an answer to this.
	_ = i.opts.Lifecycle.UnlessLeaving(ctx, func(ctx context.Context) (err error) {
		focus, err = i.opts.Frames.Focused(ctx)
		return err
	})
	of, _ := i.opts.Frames.Frame(focus.Frame)
	_, err = out.note(Element{Identity: focus.Identity, Frame: focus.Frame, generation: of.Generation})
	return focus, err
}

// PressKeyIn gives a target the focus, and presses a key.
func (i *Input) PressKeyIn(target, spec string) Action {
	if _, _, err := parseKey(spec); err != nil {
		return Action{Err: err}
	}
	a := i.act("pressing "+spec+" in "+target, target, toSelect, 0,
		func(ctx context.Context, s *spot, _ *Outcome) error {
			if _, err := i.change(ctx, s, "focus", nil); err != nil {
				return err
			}
			return i.keyboard.press(ctx, spec)
		})
	a.Arrives = true
	return a
}

func (kb *keyboard) press(ctx context.Context, spec string) error {
	k, modifiers, err := parseKey(spec)
	if err != nil {
		return err
	}
	return kb.holding(ctx, modifiers, func() error { return kb.stroke(ctx, k, modifiers) })
}

// holding runs do while modifiers are held; the page gets their key events.
func (kb *keyboard) holding(ctx context.Context, modifiers int64, do func() error) error {
	var pressed []key
	var mask int64
	var err error
	for _, name := range []string{"Control", "Alt", "Meta", "Shift"} {
		if bit := modifierBits[name]; err == nil && modifiers&bit != 0 {
			mask |= bit
			pressed = append(pressed, named[name])
			err = kb.down(ctx, named[name], mask)
		}
	}
	if err == nil {
		err = do()
	}
	var ups []*cdp.Pending
	for _, k := range slices.Backward(pressed) { // even after an error
		mask &^= modifierBits[k.key]
		if up, err := kb.send(context.WithoutCancel(ctx), input.DispatchKeyEventTypeKeyUp, k, mask); err == nil {
			ups = append(ups, up)
		}
	}
	if err != nil || len(ups) == 0 {
		return err
	}
	// Input events use a channel of their own, so a later command may overtake them. A
	// refusal means that the document is being replaced or gone; settling detects that.
	_ = kb.life.UnlessLeaving(ctx, func(ctx context.Context) error { return waitAll(ctx, ups) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// down presses a key and waits until the page has received it.
func (kb *keyboard) down(ctx context.Context, k key, modifiers int64) error {
	down, err := kb.send(ctx, input.DispatchKeyEventTypeRawKeyDown, k, modifiers)
	if err != nil {
		return err
	}
	return down.Wait(ctx, nil)
}

func (kb *keyboard) send(
	ctx context.Context, kind input.DispatchKeyEventType, k key, modifiers int64,
) (*cdp.Pending, error) {
	return kb.session.Start(ctx, input.CommandDispatchKeyEvent, k.event(kind, modifiers))
}

func (k key) event(kind input.DispatchKeyEventType, modifiers int64) input.DispatchKeyEventParams {
	return input.DispatchKeyEventParams{
		Type: kind, Modifiers: modifiers, Location: k.location(), IsKeypad: new(k.location() == numpad),
		Key: k.key, Code: k.code, WindowsVirtualKeyCode: k.vk, NativeVirtualKeyCode: k.vk,
	}
}

// typeRune types one character with its key, or inserts it when no key has it.
func (kb *keyboard) typeRune(ctx context.Context, c rune) error {
	k, ok := runeKey(c)
	if !ok {
		return kb.insert(ctx, string(c))
	}
	return kb.stroke(ctx, k, 0)
}

// editing are the editor commands that a browser on a Mac needs with the key;
// elsewhere the key alone is enough.
var editing = map[string]string{"a": "selectAll", "c": "copy", "x": "cut", "v": "paste", "z": "undo"}

// stroke presses a key with the held modifiers, and with Shift if the key needs it.
func (kb *keyboard) stroke(ctx context.Context, k key, modifiers int64) error {
	kb.sentCount.Add(1)
	if k.shift {
		modifiers |= shiftKey
	}
	down := k.event(input.DispatchKeyEventTypeRawKeyDown, modifiers|modifierBits[k.key])
	if modifiers&(altKey|controlKey|metaKey) == 0 && k.text != "" {
		down.Type, down.Text, down.UnmodifiedText = input.DispatchKeyEventTypeKeyDown, k.text, k.text
	}
	if command := editing[strings.ToLower(k.key)]; modifiers == metaKey && command != "" {
		down.Commands = []string{command}
	}
	up := k.event(input.DispatchKeyEventTypeKeyUp, modifiers)
	var commands []*cdp.Pending
	for _, e := range []input.DispatchKeyEventParams{down, up} {
		pending, err := kb.session.Start(ctx, input.CommandDispatchKeyEvent, e)
		if err != nil {
			return err
		}
		commands = append(commands, pending)
	}
	return waitAll(ctx, commands)
}

// insert inserts text at the caret, as an input method does.
func (kb *keyboard) insert(ctx context.Context, text string) error {
	kb.sentCount.Add(1)
	return kb.session.Call(ctx, input.CommandInsertText, input.InsertTextParams{Text: text}, nil)
}
