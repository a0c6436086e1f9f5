package input

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/page/frame"
)

// patience bounds the wait for options that a list does not have yet.
const patience = time.Second

// choose selects options of a <select>, or chooses them in a list of the page's own.
func (i *Input) choose(ctx context.Context, s *spot, values []string) error {
	if s.field != "select" {
		return i.chooseIn(ctx, s, values)
	}
	_, err := i.change(ctx, s, "select", map[string]any{"wanted": values, "patience": patience.Milliseconds()})
	return err
}

// list is a list of the page's own, as list.js describes it.
type list struct {
	Closed   bool // it must be opened first
	Itself   bool // it needs none: the target is the list
	Multiple bool
	Typed    bool // text in the target filters its options
	Error    string
}

// option is what option.js has found.
type option struct {
	Found, Disabled, Chosen bool
	Label                   string
	Labels                  []string // of what the list has
}

// chooseIn chooses options in a list of the page's own as a user does: it opens the list, and clicks them.
func (i *Input) chooseIn(ctx context.Context, s *spot, values []string) error {
	var l list
	if err := s.Call(ctx, "list", len(values), &l); err != nil {
		return err
	}
	if l.Error != "" {
		return &frame.TargetError{Target: s.Target, Reason: l.Error}
	}
	if !l.Closed {
		s.field = "options"
	}
	for n, value := range values {
		err := i.chooseOption(ctx, s, &l, value)
		if n > 0 {
			err = midway(err, "%d of %d options are chosen", n, len(values))
		}
		if err != nil {
			return err
		}
	}
	for l.Multiple {
		other, err := i.option(ctx, s, map[string]any{"others": append([]string{}, values...)})
		if err == nil && other.Found {
			err = i.clickOption(ctx, s, other.Label)
		}
		if err != nil {
			return midway(err, "the options are chosen, but others may be, too")
		}
		if !other.Found {
			break
		}
	}
	if l.Itself || !l.Multiple {
		return nil
	}
	// A list of several stays open, and may cover what is used next.
	var now list
	if err := s.Call(ctx, "list", len(values), &now); err != nil || now.Closed {
		return err
	}
	return i.keyboard.press(ctx, "Escape")
}

// chooseOption clicks the option of that label, and opens the list for it.
func (i *Input) chooseOption(ctx context.Context, s *spot, l *list, value string) error {
	if l.Closed {
		if err := i.openList(ctx, s); err != nil {
			return err
		}
		l.Closed = false
	}
	find := map[string]any{"wanted": value, "patience": patience.Milliseconds()}
	found, err := i.awaitOption(ctx, s, find)
	if err != nil {
		return err
	}
	shown := found.Labels
	if !found.Found && l.Typed {
		s.field = "combobox"
		if err := i.fill(ctx, s, value, false); err != nil {
			return err
		}
		if found, err = i.awaitOption(ctx, s, find); err != nil {
			return err
		}
	}
	switch {
	case !found.Found:
		return &frame.TargetError{Target: s.Target, Reason: noOption(value, append(shown, found.Labels...), l.Typed)}
	case found.Disabled:
		return &frame.TargetError{Target: s.Target, Reason: "option " + strconv.Quote(found.Label) + " is disabled"}
	case found.Chosen && (l.Multiple || l.Itself):
		return nil
	}
	return i.clickOption(ctx, s, found.Label)
}

// chooseTyped types into a combobox, and clicks the option that is exactly the text, if it lists that.
func (i *Input) chooseTyped(ctx context.Context, s *spot, text string) (chosen bool, err error) {
	if err := s.Call(ctx, "list", 1, nil); err != nil {
		return false, err
	}
	if err := i.fill(ctx, s, text, false); err != nil || text == "" {
		return false, err
	}
	found, err := i.awaitOption(ctx, s, map[string]any{"wanted": text, "patience": patience.Milliseconds()})
	if err != nil || !found.Found || found.Disabled {
		return false, err
	}
	return true, i.clickOption(ctx, s, found.Label)
}

func noOption(value string, labels []string, typed bool) string {
	var quoted []string
	for _, label := range labels {
		if q := strconv.Quote(label); !slices.Contains(quoted, q) {
			quoted = append(quoted, q)
		}
	}
	reason := fmt.Sprintf("has no option %q", value)
	switch {
	case len(quoted) > 0:
		reason += "; it has " + strings.Join(quoted, ", ")
	default:
		reason += ": it shows none"
	}
	if typed {
		reason += ". The text is typed into it, but none is chosen"
	}
	return reason
}

// openList clicks what opens a list.
func (i *Input) openList(ctx context.Context, s *spot) error {
	if s.use != toClick { // that needs a point
		s.use = toClick
		if err := i.refresh(ctx, s, i.opts.ActionTimeout, false); err != nil {
			return err
		}
	}
	return i.clickSpot(ctx, s, input.MouseButtonLeft, 1, 1, 0, i.opts.ActionTimeout)
}

// awaitOption is option, and waits as long as the page loads what may bring it.
func (i *Input) awaitOption(ctx context.Context, s *spot, find map[string]any) (found option, err error) {
	for end := time.Now().Add(i.opts.ActionTimeout); ; {
		found, err = i.option(ctx, s, find)
		if err != nil || found.Found || !i.loads() || time.Now().After(end) {
			return found, err
		}
	}
}

func (i *Input) option(ctx context.Context, s *spot, find map[string]any) (found option, err error) {
	err = s.Call(ctx, "option", find, &found)
	return found, err
}

// clickOption clicks the option that option.js has found.
func (i *Input) clickOption(ctx context.Context, s *spot, label string) error {
	kept, err := protocol.Call(ctx, s.Session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: "function () { return memory.option }", ObjectID: s.Handle,
	})
	if err != nil {
		return err
	}
	wait := i.opts.ActionTimeout
	e := &frame.Element{Target: "option " + strconv.Quote(label), Frame: s.Frame, Session: s.Session,
		Handle: kept.Result.ObjectID}
	option, err := i.readyElement(ctx, e, toClick, wait, time.Now().Add(wait), false)
	if err != nil {
		e.Release(ctx)
		return err
	}
	defer func() { option.Release(ctx) }()
	s.chosen = append(s.chosen, label)
	return i.clickSpot(ctx, option, input.MouseButtonLeft, 1, 1, 0, wait)
}
