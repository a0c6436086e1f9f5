package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page/frame"
)

// Sighting is an element in the accessibility tree, so it is not hidden.
type Sighting struct {
	Ref    string
	Name   string
	Frame  javascript.Expression // Playwright's locator of its frame; zero: the main frame
	unseen bool                  // it is transparent, for example
}

// VerifyError reports that a page does not meet an expectation.
type VerifyError struct {
	Reason    string
	Invisible bool // what was expected is in the page, although no user sees it
}

func (e *VerifyError) Error() string { return e.Reason }

// unseen is why something that is in the accessibility tree is not visible.
const unseen = "is in the page, but no user sees it: it is transparent, has no size, is in a closed list, or lies " +
	"outside of what can be scrolled to"

// FindByRole finds the visible elements of a role whose accessible name contains
// the name, ignoring case, in all frames. There is at least one, or a *VerifyError.
func (r *Reader) FindByRole(ctx context.Context, role, name string) ([]Sighting, error) {
	var found []Sighting
	reason, wanted := fmt.Sprintf("no %s %q is shown", role, name), folded(name)
	err := r.page.Run(ctx, "looking for an element", 0, func(ctx context.Context) error {
		return r.page.Frames.ForEach(ctx, func(id protocol.FrameID) error {
			sighted, err := r.sight(ctx, id, role, false)
			for _, s := range sighted {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if !strings.Contains(folded(s.Name), wanted) {
					continue
				}
				if !r.frameShown(ctx, id) {
					return nil
				}
				if s.unseen {
					reason = fmt.Sprintf("%s %q %s", role, s.Name, unseen)
					continue
				}
				if s.Frame, err = r.FrameLocator(ctx, id); err != nil {
					return err
				}
				found = append(found, s)
			}
			return err
		})
	})
	if err == nil && len(found) == 0 {
		err = &VerifyError{Reason: reason}
	}
	return found, err
}

// frameShown reports whether a frame can be seen. Its own document does not know.
func (r *Reader) frameShown(ctx context.Context, id protocol.FrameID) bool {
	for id != r.page.Frames.Main() {
		f, ok := r.page.Frames.Frame(id)
		if !ok || f.Parent == "" {
			return false
		}
		e, err := r.page.Frames.Owner(ctx, f)
		if err != nil {
			return false // it has gone
		}
		var visible bool
		err = e.Run(ctx, seenFunction, nil, &visible)
		e.Release(ctx)
		if err != nil || !visible {
			return false
		}
		id = f.Parent
	}
	return true
}

// sight lists the elements of a role in one frame; also clipped ones, if wanted.
func (r *Reader) sight(ctx context.Context, id protocol.FrameID, role string, clipped bool) ([]Sighting, error) {
	read, err := r.outlineDocument(ctx, id, nil, Options{look: role, clipped: clipped})
	if err != nil {
		return nil, err
	}
	return sightings(read.Sighted), nil
}

// sightings are triples of a ref's number, a name, and whether no user sees the element.
func sightings(triples []any) (found []Sighting) {
	for t := range slices.Chunk(triples, 3) {
		n, _ := t[0].(float64)
		name, _ := t[1].(string)
		found = append(found, Sighting{Ref: fmt.Sprintf("e%d", int(n)), Name: name, unseen: t[2] == true})
	}
	return found
}

// folded normalizes a text for comparison, as Playwright's locators do.
func folded(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// notShown are those of some texts that no user sees, and those of them that are in the page
// nevertheless.
type notShown struct{ Missing, Unseen []string }

// VerifyText checks that a text is shown in one of the frames, and returns Playwright's
// locator of that frame, which is zero for the main frame.
func (r *Reader) VerifyText(ctx context.Context, text string) (locator javascript.Expression, err error) {
	visible, reason := false, "is not shown"
	err = r.page.Run(ctx, "looking for a text", 0, func(ctx context.Context) error {
		return r.page.Frames.ForEach(ctx, func(id protocol.FrameID) error {
			if visible {
				return nil
			}
			if err := r.page.Frames.Pierce(ctx, id); err != nil {
				return err
			}
			var not notShown
			err := r.page.Frames.Run(ctx, id, shownFunction, map[string]any{"texts": []string{text}}, &not)
			if there := len(not.Missing) == 0 || len(not.Unseen) > 0; err != nil || !there || !r.frameShown(ctx, id) {
				return err
			}
			if len(not.Unseen) > 0 {
				reason = unseen
			}
			if visible = len(not.Missing) == 0; visible {
				locator, err = r.FrameLocator(ctx, id)
			}
			return err
		})
	})
	if err == nil && !visible {
		err = &VerifyError{Reason: fmt.Sprintf("the text %q %s", text, reason), Invisible: reason == unseen}
	}
	return locator, err
}

// VerifyItems checks that all texts are shown within a target.
func (r *Reader) VerifyItems(ctx context.Context, target string, items []string) error {
	return r.withElement(ctx, "looking for the items", target, func(ctx context.Context, e *frame.Element) error {
		var not notShown
		if err := e.Run(ctx, shownFunction, map[string]any{"texts": items}, &not); err != nil {
			return err
		}
		if len(not.Missing) > 0 {
			reason := fmt.Sprintf("%s does not show %q", target, not.Missing)
			if len(not.Unseen) > 0 {
				reason += fmt.Sprintf("; %q %s", not.Unseen, unseen)
			}
			return &VerifyError{Reason: reason}
		}
		return nil
	})
}

// VerifyValue checks the value of a control: its text, for a checkbox or radio button
// true or false, for a dropdown the option's value or label.
func (r *Reader) VerifyValue(ctx context.Context, target, kind, value string) error {
	return r.withElement(ctx, "reading the value", target, func(ctx context.Context, e *frame.Element) error {
		var values []string
		if err := e.Run(ctx, valueFunction, map[string]any{"type": kind}, &values); err != nil {
			return err
		}
		switch {
		case len(values) == 0:
			return &frame.TargetError{Target: target, Reason: "has no value: it is no " + kind}
		case !slices.Contains(values, value):
			return &VerifyError{Reason: fmt.Sprintf("%s holds %q, not %q", target, values[0], value)}
		}
		return nil
	})
}
