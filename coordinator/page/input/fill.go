package input

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/page/frame"
)

// TypeOptions of Type.
type TypeOptions struct {
	Slowly  bool          // key by key, so that key handlers run; appends to the current text
	Submit  bool          // press Enter afterwards
	Secret  bool          // the field's value is not reported
	Timeout time.Duration // as in ClickOptions
}

// Type replaces the text of a target. Slowly appends to it, key by key.
func (i *Input) Type(target, text string, opts TypeOptions) Action {
	return i.on("typing into "+target, target, toType, opts.Timeout, func(ctx context.Context, s *spot, out *Outcome) error {
		err := i.fill(ctx, s, text, opts.Slowly)
		if err == nil {
			out.Held = i.held(ctx, s, text, opts.Slowly, opts.Secret)
		}
		if !opts.Submit {
			return err
		}
		if err != nil {
			return midway(err, "the text is typed, and Enter was not pressed")
		}
		if err := i.keyboard.press(ctx, "Enter"); err != nil {
			return err
		}
		// The call fails without harm if the typing has opened another document.
		_ = i.page.UnlessLeaving(ctx, func(ctx context.Context) error { return s.Call(ctx, "unmet", nil, &out.Unmet) })
		return nil
	})
}

// held is the field's value if it differs from the typed text. It is nil if the value
// matches or can no longer be read.
func (i *Input) held(ctx context.Context, s *spot, text string, slowly, secret bool) []Held {
	var value *string
	if err := s.Call(ctx, "held", map[string]any{"text": text, "slowly": slowly, "plain": secret}, &value); err != nil || value == nil {
		return nil
	}
	if secret {
		return []Held{{Target: s.Target, Value: strings.Repeat("•", utf8.RuneCountInString(*value)), Plain: *value}}
	}
	return []Held{{Target: s.Target, Value: *value}}
}

func (i *Input) fill(ctx context.Context, s *spot, text string, slowly bool) error {
	done, err := i.change(ctx, s, "fill", map[string]any{"text": text, "slowly": slowly})
	switch {
	case err != nil || done:
		return err
	case slowly:
		characters := []rune(text)
		for n, c := range characters {
			err := i.keyboard.typeRune(ctx, c)
			if n+1 < len(characters) {
				err = midway(err, "%d of %d characters are typed", n+1, len(characters))
			}
			if err != nil {
				return err
			}
		}
		return nil
	case text == "":
		return i.keyboard.press(ctx, "Delete")
	}
	return i.keyboard.insert(ctx, text)
}

// SelectOption selects options of a <select> by value or label, and unselects all
// others of a multiple one.
func (i *Input) SelectOption(target string, values ...string) Action {
	if len(values) == 0 {
		return Action{Err: errors.New("no option to select was given")}
	}
	return i.on("selecting in "+target, target, toSelect, 0, func(ctx context.Context, s *spot, _ *Outcome) error {
		return i.choose(ctx, s, values)
	})
}

func (i *Input) choose(ctx context.Context, s *spot, values []string) error {
	_, err := i.change(ctx, s, "select", values)
	return err
}

// change calls a function of the library that changes a field. done reports that no key is
// needed any longer.
func (i *Input) change(ctx context.Context, s *spot, function string, args any) (done bool, err error) {
	var r struct {
		Done  bool
		Error string
	}
	i.sent.Add(1)
	if err := s.CallAsUser(ctx, function, args, &r); err != nil {
		return false, err
	}
	if r.Error != "" {
		return false, &frame.TargetError{Target: s.Target, Reason: r.Error}
	}
	return r.Done, nil
}

// Field is one entry of FillForm.
type Field struct {
	Target string
	Type   string // textbox, checkbox, radio, combobox or slider; empty: what the element is
	Value  string // text; "true" or "false" for checkbox and radio; the option's label or value
	Secret bool   // as in TypeOptions
}

// FillForm fills several fields in the given order. It stops at the first that it cannot
// fill and reports which.
func (i *Input) FillForm(fields []Field) Action {
	wait := i.opts.ActionTimeout
	return Action{Doing: "filling the form", Waits: time.Duration(len(fields)) * wait, Do: func(ctx context.Context, out *Outcome) error {
		for n, f := range fields {
			sent := i.sent.Load()
			err := i.fillField(ctx, f, wait, out)
			filled := n
			if i.sent.Load() > sent {
				filled++
			}
			if filled < len(fields) {
				err = midway(err, "%d of %d fields are filled", filled, len(fields))
			}
			if err != nil {
				return &FieldError{Index: n, Of: len(fields), Field: f, Err: err}
			}
		}
		return nil
	}}
}

// FieldError names the field of a form that could not be filled; those before it
// are filled.
type FieldError struct {
	Index, Of int
	Field     Field
	Err       error
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("field %d of %d (%s): %v; filled before it: %d", e.Index+1, e.Of, e.Field.Target, e.Err, e.Index)
}

func (e *FieldError) Unwrap() error { return e.Err }

func (i *Input) fillField(ctx context.Context, f Field, wait time.Duration, out *Outcome) error {
	use, known := map[string]purpose{"checkbox": toClick, "radio": toClick, "combobox": toSelect, "textbox": toType, "slider": toType, "": toType}[f.Type]
	if !known {
		return fmt.Errorf("unknown type %q: textbox, checkbox, radio, combobox and slider are known", f.Type)
	}
	waiting, cancel := context.WithTimeout(ctx, wait+readyMargin)
	defer cancel()
	s, err := i.ready(waiting, f.Target, use, wait, false)
	if err != nil {
		return err
	}
	defer func() { s.Release(ctx) }()
	if _, err := out.acts(on(s.Element)); err != nil {
		return err
	}
	if f.Type == "" {
		if err := s.Call(ctx, "fieldKind", nil, &use.kind); err != nil {
			return err
		}
		if use == toClick { // that needs a point
			again, err := i.ready(waiting, f.Target, use, wait, false)
			if err != nil {
				return err
			}
			s.become(ctx, again)
		}
	}
	switch use.kind {
	case "select":
		return i.choose(ctx, s, []string{f.Value})
	case "click":
		return i.check(ctx, s, f.Value)
	}
	if err := i.fill(ctx, s, f.Value, false); err != nil {
		return err
	}
	out.Held = append(out.Held, i.held(ctx, s, f.Value, false, f.Secret)...)
	return nil
}

// check clicks a checkbox or radio button unless it has the wanted state.
func (i *Input) check(ctx context.Context, s *spot, value string) error {
	want := strings.EqualFold(value, "true")
	if !want && !strings.EqualFold(value, "false") {
		return fmt.Errorf("value %q: a checkbox takes true or false", value)
	}
	var is bool
	if err := s.Call(ctx, "checked", nil, &is); err != nil || is == want {
		return err
	}
	if err := i.clickSpot(ctx, s, input.MouseButtonLeft, 1, 1, 0, i.opts.ActionTimeout); err != nil {
		return err
	}
	if err := s.Call(ctx, "checked", nil, &is); err != nil {
		return err
	}
	if is != want {
		return &frame.TargetError{Target: s.Target, Reason: fmt.Sprintf("stays %v although it was clicked", is)}
	}
	return nil
}
