package input

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"

	"browser-coordinator/coordinator/page/frame"
)

//go:embed defaultbutton.js
var defaultButtonFunction string

// TypeOptions of Type.
type TypeOptions struct {
	Slowly  bool          // key by key, so that key handlers run; appends to the current text
	Submit  bool          // press Enter afterwards
	Secret  bool          // the field's value is not reported
	Timeout time.Duration // as in ClickOptions
}

// Type replaces the text of a target. Slowly appends to it, key by key.
func (i *Input) Type(target, text string, opts TypeOptions) Action {
	a := i.act("typing into "+target, target, toType, opts.Timeout,
		func(ctx context.Context, s *spot, out *Outcome) error {
			err := i.fill(ctx, s, text, opts.Slowly)
			out.CaretAtEnd = s.toEnd
			if err == nil {
				out.Values = i.readValue(ctx, s, text, opts.Slowly, opts.Secret)()
			}
			if err != nil || !opts.Submit {
				return err
			}
			// Before Enter: many pages disable the button when they submit.
			_ = s.Run(ctx, defaultButtonFunction, nil, &out.Disabled)
			if err := i.submit(ctx, out); err != nil {
				return err
			}
			// The call fails without harm if the typing has opened another document.
			_ = i.opts.Lifecycle.UnlessLeaving(ctx, func(ctx context.Context) error {
				return s.Call(ctx, "unmet", nil, &out.Invalid)
			})
			return nil
		})
	a.Check = func(ctx context.Context, out *Outcome) {
		if out.Replaced {
			i.check(ctx, []Field{{Target: target, Value: text, Secret: opts.Secret}}, out.Elements, out)
			return
		}
		if len(out.Values) == 0 {
			return // a field that the page empties after it has read it, as that of a chat, is no surprise
		}
		if opts.Secret {
			out.PastValues = out.Values
		}
		out.Values = i.valueNow(ctx, out.Values[0], text, opts)
	}
	return a
}

// valueNow is what a field that had another value than the typed text has when the page has
// settled, since the page may have formatted it or redrawn it meanwhile.
func (i *Input) valueNow(ctx context.Context, previous FieldValue, text string, opts TypeOptions) []FieldValue {
	e, err := i.opts.Frames.Find(ctx, previous.Target)
	if err != nil {
		return []FieldValue{previous}
	}
	defer e.Release(ctx)
	var value *string
	err = e.Call(ctx, "held", map[string]any{"text": text, "slowly": opts.Slowly, "plain": opts.Secret}, &value)
	if err != nil || value != nil && *value == "" && previous.Value != "" {
		return []FieldValue{previous}
	}
	return valueOf(previous.Target, value, opts.Secret)
}

// readValue reads the field's value. The function that it returns waits for the value, and returns
// it if it differs from the typed text: nil if it matches, or can no longer be read.
func (i *Input) readValue(ctx context.Context, s *spot, text string, slowly, secret bool) func() []FieldValue {
	e := s.Element
	pending, err := e.Start(ctx, "held", map[string]any{"text": text, "slowly": slowly, "plain": secret})
	return func() []FieldValue {
		var value *string
		if err != nil || e.Outcome(ctx, pending, &value) != nil {
			return nil
		}
		return valueOf(e.Target, value, secret)
	}
}

func valueOf(target string, value *string, secret bool) []FieldValue {
	switch {
	case value == nil:
		return nil
	case secret:
		bullets := strings.Repeat("•", utf8.RuneCountInString(*value))
		return []FieldValue{{Target: target, Value: bullets, Plain: *value}}
	}
	return []FieldValue{{Target: target, Value: *value}}
}

// submit presses Enter in the document that was typed into.
func (i *Input) submit(ctx context.Context, out *Outcome) error {
	if i.IsReplaced(out.Elements...) {
		return midway(errReplaced, "the text is typed; Enter was not pressed")
	}
	err := midway(i.keyboard.press(ctx, "Enter"), "the text is typed; whether Enter was pressed is not known")
	out.sent = err == nil
	return err
}

func (i *Input) fill(ctx context.Context, s *spot, text string, slowly bool) error {
	r, err := i.change(ctx, s, "fill", map[string]any{"text": text, "slowly": slowly})
	if err == nil && r.Key != "" {
		if err = i.keyboard.press(ctx, r.Key); err == nil {
			err = s.Call(ctx, "selectContext", slowly, nil)
		}
	}
	switch {
	case err != nil || r.Done:
		return err
	case text == "" && !slowly:
		return i.keyboard.press(ctx, "Delete")
	}
	return i.typeText(ctx, text, slowly, s.keep())
}

// typeText types into the document of an element that has the focus, and into no other.
func (i *Input) typeText(ctx context.Context, text string, slowly bool, into Element) error {
	if i.IsReplaced(into) {
		return errReplaced
	}
	if !slowly {
		return i.keyboard.insert(ctx, text)
	}
	characters := []rune(text)
	for n, c := range characters {
		if n > 0 && i.IsReplaced(into) {
			return midway(errReplaced, "%d of %d characters are typed", n, len(characters))
		}
		err := i.keyboard.typeRune(ctx, c)
		if err == nil && n+1 < len(characters) {
			err = i.pause(ctx)
		}
		if n+1 < len(characters) {
			err = midway(err, "%d of %d characters are typed", n+1, len(characters))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pause waits while the user has taken over. The user may have chosen another field meanwhile, which does not
// get the rest of the text.
func (i *Input) pause(ctx context.Context) error {
	if i.opts.TakenOver == nil {
		return nil
	}
	now, wait := i.opts.TakenOver()
	if !now {
		return nil
	}
	before, err := i.opts.Frames.Focused(ctx)
	if err != nil {
		return err
	}
	if err := wait(ctx); err != nil {
		return err
	}
	after, err := i.opts.Frames.Focused(ctx)
	if err == nil && after != before {
		err = fmt.Errorf("the user has taken over, and %s has the focus now", cmp.Or(after.Identity.String(), "nothing"))
	}
	return err
}

// TypeAtFocus types at the caret of what has the focus. Slowly, every page gets the keys,
// whatever has the focus.
func (i *Input) TypeAtFocus(text string, opts TypeOptions) Action {
	typing := func(ctx context.Context, out *Outcome) error {
		focus, err := i.focus(ctx, out)
		switch {
		case err != nil:
			return err
		case opts.Slowly || focus.Text:
		case focus.Role == "":
			return errors.New("nothing has the focus: give a target, or click a field first. With slowly the page " +
				"gets the keys anyway")
		default:
			return fmt.Errorf("%s has the focus, which takes no text: give a target, or click a field first. With "+
				"slowly the page gets the keys anyway", focus.Identity)
		}
		err = i.typeText(ctx, text, opts.Slowly, out.Elements[0])
		if err == nil && opts.Submit {
			err = i.submit(ctx, out)
		}
		return err
	}
	return Action{Operation: "typing at the focus", Do: typing, Check: func(context.Context, *Outcome) {}}
}

// SelectOption selects options of a <select> by value or label, and unselects all
// others of a multiple one.
func (i *Input) SelectOption(target string, values ...string) Action {
	if len(values) == 0 {
		return Action{Err: errors.New("name an option to select (values)")}
	}
	a := i.act("selecting in "+target, target, toSelect, 0, func(ctx context.Context, s *spot, out *Outcome) error {
		if s.field != toSelect.kind {
			s.field = "list"
		}
		return i.choose(ctx, s, values)
	})
	a.Check = func(ctx context.Context, out *Outcome) {
		i.check(ctx, []Field{{Target: target, Values: values}}, out.Elements, out)
	}
	return a
}

// prepared is what a function of the library has made of a field.
type prepared struct {
	Done  bool   // no key is needed any longer
	ToEnd bool   // as in spot
	Key   string // the one that selects what is replaced, where only the page can do that
	Error string
}

// change calls a function of the library that changes a field.
func (i *Input) change(ctx context.Context, s *spot, function string, args any) (r prepared, err error) {
	i.sentCount.Add(1)
	if err := s.CallAsUser(ctx, function, args, &r); err != nil {
		return r, err
	}
	if r.Error != "" {
		return r, &frame.TargetError{Target: s.Target, Reason: r.Error}
	}
	s.toEnd = r.ToEnd
	return r, nil
}

// Field is one entry of FillForm.
type Field struct {
	Target string
	Type   string // textbox, checkbox, radio, combobox or slider; empty: what the element is
	Value  string // text; "true" or "false" for checkbox and radio; the option's label or value
	// Values are the options of a list that takes several; nil: the field takes Value.
	Values []string
	Secret bool // as in TypeOptions
}

// options are the options that the field selects.
func (f Field) options() []string {
	if f.Values != nil {
		return f.Values
	}
	return []string{f.Value}
}

// FillForm fills several fields in the given order. It fills none if one of them takes no such value. It
// stops at the first that it cannot fill and reports which. A field that the page changes again is in Values.
func (i *Input) FillForm(fields []Field) Action {
	wait := i.opts.ActionTimeout
	do := func(ctx context.Context, out *Outcome) error {
		if err := i.unfillable(ctx, fields); err != nil {
			return err
		}
		var typed []func()
		defer func() {
			for _, holds := range typed {
				holds()
			}
		}()
		for n, f := range fields {
			sent := i.sentCount.Load()
			holds, err := i.fillField(ctx, f, wait, out)
			if holds != nil {
				typed = append(typed, func() { out.addValue(f, holds()) })
			}
			filled := n
			if i.sentCount.Load() > sent {
				filled++
			}
			if filled < len(fields) {
				err = midway(err, "%d of %d fields are filled", filled, len(fields))
			}
			if err != nil {
				return &FieldError{Filled: out.Elements[:n], Field: f, Total: len(fields), Err: err}
			}
			for m, earlier := range fields[:n] { // which the page formats perhaps when it is left
				if !earlier.Secret {
					continue
				}
				if h, err := i.fieldNow(ctx, earlier, out.Elements[m]); err == nil && h != nil {
					out.PastValues = append(out.PastValues, *h)
				}
			}
		}
		return nil
	}
	return Action{Operation: "filling the form", Waits: time.Duration(len(fields)) * wait, Do: do,
		Check: func(ctx context.Context, out *Outcome) {
			i.check(ctx, fields[:len(out.Elements)], out.Elements, out)
		}}
}

// check corrects what is known of the values of fields, which it reads all at once. elements
// say how each was filled. Nothing is known of a field that cannot be read. Of a field that was
// filled twice, the last value counts.
func (i *Input) check(ctx context.Context, fields []Field, elements []Element, out *Outcome) {
	now, errs := make([]*FieldValue, len(fields)), make([]error, len(fields))
	again := func(n int) bool {
		return slices.ContainsFunc(fields[n+1:], func(later Field) bool { return later.Target == fields[n].Target })
	}
	var reading sync.WaitGroup
	for n, f := range fields {
		if !again(n) {
			reading.Go(func() { now[n], errs[n] = i.fieldNow(ctx, f, elements[n]) })
		}
	}
	reading.Wait()
	for n, f := range fields {
		switch {
		case again(n):
		case errs[n] == nil:
			out.correct(f, now[n])
		case out.Replaced:
			out.correct(f, &FieldValue{Target: f.Target, Now: "cannot be read"})
		}
	}
}

// correct corrects what is known of the value of a field. now is nil if it still is what it was
// set to.
func (out *Outcome) correct(f Field, now *FieldValue) {
	index := slices.IndexFunc(out.Values, func(h FieldValue) bool { return h.Target == f.Target })
	if index >= 0 {
		previous := out.Values[index]
		if now != nil && now.Value == previous.Value && now.Plain == previous.Plain {
			return
		}
		if f.Secret {
			out.PastValues = append(out.PastValues, previous)
		}
		out.Values = slices.Delete(out.Values, index, index+1)
	}
	if now != nil {
		out.Values = append(out.Values, *now)
	}
}

// fieldNow is what a filled field has become; nil if it still is what it was set to.
func (i *Input) fieldNow(ctx context.Context, f Field, element Element) (h *FieldValue, err error) {
	text := f.Value
	if element.Filled == "click" {
		state, _ := CheckedState(f.Value)
		text = strconv.FormatBool(state)
	}
	var r *struct {
		Value, Is string
		Gone      bool
	}
	read := func(ctx context.Context, e *frame.Element) error {
		r = nil
		err := e.Call(ctx, "kept", map[string]any{
			"filled": element.Filled, "text": text, "options": f.options(), "plain": f.Secret,
		}, &r)
		if err == nil && r != nil && r.Gone {
			err = i.opts.Frames.Removed(ctx, e)
		}
		return err
	}
	find := func(ctx context.Context, target string) error {
		e, err := i.opts.Frames.Find(ctx, target)
		if err != nil {
			return err
		}
		defer e.Release(ctx)
		return read(ctx, e)
	}
	err = i.opts.Lifecycle.UnlessLeaving(ctx, func(ctx context.Context) error {
		err := read(ctx, element.element)
		if err == nil || !frame.Vanished(err) {
			return err
		}
		// The page has redrawn the field: a selector finds the new one, a ref's error has its ref.
		var stale *frame.StaleRefError
		if !errors.As(err, &stale) || stale.Replacement == "" {
			err = find(ctx, f.Target)
		}
		if errors.As(err, &stale) && stale.Replacement != "" {
			return find(ctx, stale.Replacement)
		}
		if errors.As(err, &stale) && element.Name != "" { // a document that was replaced suggests none
			return find(ctx, element.Identity.String())
		}
		return err
	})
	switch {
	case errors.As(err, new(*frame.StaleRefError)), frame.NoMatch(err):
		return &FieldValue{Target: f.Target, Now: "is no longer in the page"}, nil
	case err != nil || r == nil:
		return nil, err
	}
	h = &FieldValue{Target: f.Target, Value: r.Value}
	if f.Secret {
		h.Value, h.Plain = strings.Repeat("•", utf8.RuneCountInString(r.Value)), r.Value
	}
	h.Now = fmt.Sprintf("now holds %q", h.Value)
	if r.Is != "" {
		h.Now = "is " + r.Is + " again"
	}
	return h, nil
}

// FieldError names the field of a form that could not be filled, and those before it, which
// are filled.
type FieldError struct {
	Filled []Element
	Field  Field
	Total  int // the number of fields
	Err    error
}

func (e *FieldError) Error() string {
	var filled []string
	for _, element := range e.Filled {
		filled = append(filled, cmp.Or(element.String(), element.Target))
	}
	cause := e.Err
	if partial, ok := cause.(*PartialError); ok {
		cause = partial.Err // the fields are listed
	}
	return fmt.Sprintf("field %d of %d (%s): %v; filled before it: "+
		"%s", len(e.Filled)+1, e.Total, e.Field.Target, cause, cmp.Or(strings.Join(filled, ", "), "none"))
}

func (e *FieldError) Unwrap() error { return e.Err }

// unfillable is why fields of a form can never be filled so. One that is missing, hidden or disabled may change when
// those before it are filled.
func (i *Input) unfillable(ctx context.Context, fields []Field) error {
	if len(fields) == 1 {
		return nil // its own error says the same
	}
	reasons := make([]error, len(fields))
	var reading sync.WaitGroup
	for n, f := range fields {
		reading.Go(func() {
			if err := i.unfillableField(ctx, f); err != nil {
				reasons[n] = fmt.Errorf("field %d of %d: %w", n+1, len(fields), err)
			}
		})
	}
	reading.Wait()
	reasons = slices.DeleteFunc(reasons, func(err error) bool { return err == nil })
	if len(reasons) > 0 {
		return &FormError{reasons}
	}
	return nil
}

func (i *Input) unfillableField(ctx context.Context, f Field) error {
	if _, err := f.purpose(); err != nil {
		return err
	}
	e, err := i.opts.Frames.Find(ctx, f.Target)
	if err != nil {
		return nil
	}
	defer e.Release(ctx)
	var reason string
	err = i.opts.Lifecycle.UnlessLeaving(ctx, func(ctx context.Context) error {
		return e.Call(ctx, "unfillable", map[string]any{"type": f.Type, "text": f.Value, "options": f.Values}, &reason)
	})
	switch {
	case err != nil:
		return nil
	case reason != "":
		return &frame.TargetError{Target: f.Target, Reason: reason}
	}
	return nil
}

// purpose is what the field is to be ready for, by its type.
func (f Field) purpose() (purpose, error) {
	use, known := map[string]purpose{
		"checkbox": toClick, "radio": toClick, "combobox": toSelect, "textbox": toType, "slider": toType, "": toType,
	}[f.Type]
	if !known {
		return use, fmt.Errorf("unknown type %q: textbox, checkbox, radio, combobox and slider are known", f.Type)
	}
	return use, nil
}

// FormError reports why a form was not filled at all.
type FormError struct{ Fields []error }

func (e *FormError) Error() string {
	return fmt.Sprintf("no field is filled: %v", errors.Join(e.Fields...))
}

func (e *FormError) Unwrap() []error { return e.Fields }

// fillField fills a field. holds is the pending read of a text field, as of readValue.
func (i *Input) fillField(
	ctx context.Context, f Field, wait time.Duration, out *Outcome,
) (holds func() []FieldValue, err error) {
	use, err := f.purpose()
	if err != nil {
		return nil, err
	}
	if i.IsReplaced(out.Elements...) {
		return nil, errReplaced
	}
	waiting, cancel := context.WithTimeoutCause(ctx, wait+readyMargin, &LateError{Target: f.Target, Elapsed: wait})
	defer cancel()
	s, err := i.ready(waiting, f.Target, use, wait, false)
	if err != nil {
		return nil, err
	}
	if i.IsReplaced(out.Elements...) { // while it waited
		s.Element.Release(ctx)
		return nil, errReplaced
	}
	index, err := out.note(s.keep())
	if err != nil {
		return nil, err
	}
	defer func() { // the page may have replaced the element
		out.Elements[index] = s.keep()
	}()
	s.field = cmp.Or(s.field, use.kind)         // the caller's type may be that of another widget that looks the same
	if s.field == "click" && s.use != toClick { // that needs a point
		s.use = toClick
		if err := i.refresh(waiting, s, wait, false); err != nil {
			return nil, err
		}
	}
	i.show(ctx, s)
	if f.Values != nil && s.field != "select" && s.field != "list" {
		return nil, &frame.TargetError{Target: f.Target, Reason: "takes one value, not a list"}
	}
	switch s.field {
	case "select", "list":
		return nil, i.choose(ctx, s, f.options())
	case "click":
		return nil, i.tick(ctx, s, f.Value)
	case "combobox":
		if chosen, err := i.chooseTyped(ctx, s, f.Value); chosen || err != nil {
			return nil, err
		}
		s.field = "type"
	default:
		if err := i.fill(ctx, s, f.Value, false); err != nil {
			return nil, err
		}
	}
	return i.readValue(ctx, s, f.Value, false, f.Secret), nil
}

// addValue adds what a text field holds after it was typed into.
func (out *Outcome) addValue(f Field, now []FieldValue) {
	// it is filled again
	if index := slices.IndexFunc(out.Values, func(h FieldValue) bool { return h.Target == f.Target }); index >= 0 {
		out.PastValues = append(out.PastValues, out.Values[index])
		out.Values = slices.Delete(out.Values, index, index+1)
	}
	out.Values = append(out.Values, now...)
}

// CheckedState is the state that a checkbox or radio button gets by a value; false if the value is of
// another kind.
func CheckedState(value string) (state, ok bool) {
	value = strings.ToLower(value)
	return value == "true", value == "true" || value == "false"
}

// tick clicks a checkbox or radio button unless it has the wanted state.
func (i *Input) tick(ctx context.Context, s *spot, value string) error {
	want, ok := CheckedState(value)
	if !ok {
		return &frame.TargetError{Target: s.Target, Reason: fmt.Sprintf("takes true or false, not %q", value)}
	}
	var is bool
	if err := s.Call(ctx, "checked", nil, &is); err != nil || is == want {
		return err
	}
	if err := i.clickSpot(ctx, s, input.MouseButtonLeft, 1, 1, 0, i.opts.ActionTimeout); err != nil {
		return err
	}
	if err := s.Call(ctx, "awaitChecked", want, &is); err != nil {
		return err
	}
	if is != want {
		return &frame.TargetError{Target: s.Target, Reason: fmt.Sprintf("stays %v although it was clicked", is)}
	}
	return nil
}
