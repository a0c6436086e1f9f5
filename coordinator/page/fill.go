package page

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

// Type fills a target with text: what is there is replaced. Slowly types it key
// by key behind what is there.
func (p *Page) Type(ctx context.Context, target, text string, opts TypeOptions) (Change, error) {
	var held []Held
	var unmet []string
	change, err := p.actOn(ctx, "typing into "+target, target, "type", opts.Timeout, func(ctx context.Context, s *spot) error {
		err := p.fill(ctx, s, text, opts.Slowly)
		if err == nil {
			held = p.held(ctx, s, text, opts.Slowly, opts.Secret)
		}
		if !opts.Submit {
			return err
		}
		if err != nil {
			return midway(err, "the text is typed, and Enter was not pressed")
		}
		if err := p.press(ctx, "Enter"); err != nil {
			return err
		}
		// Where it has led to another document there is nobody to ask.
		_ = p.unlessLeaving(ctx, func(ctx context.Context) error { return s.Call(ctx, "unmet", nil, &unmet) })
		return nil
	})
	change.Held, change.Unmet = held, unmet
	return change, err
}

// held is what a field holds where that is not what was typed; nil also where the
// typing has led to where it cannot be asked.
func (p *Page) held(ctx context.Context, s *spot, text string, slowly, secret bool) []Held {
	var value *string
	if err := s.Call(ctx, "held", map[string]any{"text": text, "slowly": slowly, "plain": secret}, &value); err != nil || value == nil {
		return nil
	}
	if secret {
		return []Held{{Target: s.Target, Value: strings.Repeat("•", utf8.RuneCountInString(*value)), Plain: *value}}
	}
	return []Held{{Target: s.Target, Value: *value}}
}

func (p *Page) fill(ctx context.Context, s *spot, text string, slowly bool) error {
	var r struct {
		Done  bool
		Error string
	}
	p.inputs.Add(1)
	if err := s.CallAsUser(ctx, "fill", map[string]any{"text": text, "slowly": slowly}, &r); err != nil {
		return err
	}
	switch {
	case r.Error != "":
		return &frame.TargetError{Target: s.Target, Reason: r.Error}
	case r.Done:
		return nil
	case slowly:
		characters := []rune(text)
		for i, c := range characters {
			err := p.typeRune(ctx, c)
			if err != nil && i+1 < len(characters) {
				err = midway(err, "%d of %d characters are typed", i+1, len(characters))
			}
			if err != nil {
				return err
			}
		}
		return nil
	case text == "":
		return p.press(ctx, "Delete")
	}
	return p.insert(ctx, text)
}

// insert puts text where the caret is, as an input method does.
func (p *Page) insert(ctx context.Context, text string) error {
	p.inputs.Add(1)
	return p.session.Call(ctx, input.CommandInsertText, input.InsertTextParams{Text: text}, nil)
}

// SelectOption selects options of a <select> by value or label; all others of a
// multiple one are unselected.
func (p *Page) SelectOption(ctx context.Context, target string, values ...string) (Change, error) {
	if len(values) == 0 {
		return Change{}, errors.New("no option to select was given")
	}
	return p.actOn(ctx, "selecting in "+target, target, "select", 0, func(ctx context.Context, s *spot) error {
		return p.choose(ctx, s, values)
	})
}

func (p *Page) choose(ctx context.Context, s *spot, values []string) error {
	var r struct{ Error string }
	p.inputs.Add(1)
	if err := s.CallAsUser(ctx, "select", values, &r); err != nil {
		return err
	}
	if r.Error != "" {
		return &frame.TargetError{Target: s.Target, Reason: r.Error}
	}
	return nil
}

// FillForm fills several fields in the order given; it stops at the first that
// cannot be filled and says which.
func (p *Page) FillForm(ctx context.Context, fields []Field) (Change, error) {
	patience := p.patience(0)
	var held []Held
	change, err := p.operate(ctx, "filling the form", time.Duration(len(fields))*patience+p.browser.opts.CallTimeout, func(ctx context.Context) error {
		for i, f := range fields {
			inputs := p.inputs.Load()
			other, err := p.fillField(ctx, f, patience)
			held = append(held, other...)
			filled := i
			if p.inputs.Load() > inputs {
				filled++
			}
			if filled < len(fields) {
				err = midway(err, "%d of %d fields are filled", filled, len(fields))
			}
			if err != nil {
				return &fieldError{Index: i, Of: len(fields), Field: f, Err: err}
			}
		}
		return nil
	})
	change.Held = held
	return change, err
}

// fieldError names the field of a form that could not be filled; those before it
// are.
type fieldError struct {
	Index, Of int
	Field     Field
	Err       error
}

func (e *fieldError) Error() string {
	return fmt.Sprintf("field %d of %d (%s): %v; filled before it: %d", e.Index+1, e.Of, e.Field.Target, e.Err, e.Index)
}

func (e *fieldError) Unwrap() error { return e.Err }

func (p *Page) fillField(ctx context.Context, f Field, patience time.Duration) ([]Held, error) {
	kind := map[string]string{"checkbox": "click", "radio": "click", "combobox": "select", "textbox": "type", "slider": "type", "": "type"}[f.Type]
	if kind == "" {
		return nil, fmt.Errorf("unknown type %q: textbox, checkbox, radio, combobox and slider are known", f.Type)
	}
	waiting, cancel := context.WithTimeout(ctx, patience+readyMargin)
	defer cancel()
	s, err := p.ready(waiting, f.Target, kind, patience)
	if err != nil {
		return nil, err
	}
	defer s.Release(ctx)
	switch kind {
	case "select":
		return nil, p.choose(ctx, s, []string{f.Value})
	case "click":
		return nil, p.check(ctx, s, f.Value)
	}
	if err := p.fill(ctx, s, f.Value, false); err != nil {
		return nil, err
	}
	return p.held(ctx, s, f.Value, false, f.Secret), nil
}

// check clicks a checkbox or radio button unless it is as wanted.
func (p *Page) check(ctx context.Context, s *spot, value string) error {
	want := strings.EqualFold(value, "true")
	if !want && !strings.EqualFold(value, "false") {
		return fmt.Errorf("value %q: a checkbox takes true or false", value)
	}
	var is bool
	if err := s.Call(ctx, "checked", nil, &is); err != nil || is == want {
		return err
	}
	if err := p.clickSpot(ctx, s, input.MouseButtonLeft, 1, 1, 0, p.patience(0)); err != nil {
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
