package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/coordinator/page/frame"
)

// Sighting is an element in the accessibility tree, so it is not hidden.
type Sighting struct {
	Ref   string
	Name  string
	Frame string // Playwright's locator of its frame; empty: the main frame
}

// VerifyError reports that a page does not meet an expectation.
type VerifyError struct{ Reason string }

func (e *VerifyError) Error() string { return e.Reason }

// FindByRole finds the visible elements of a role whose accessible name contains
// the name, ignoring case, in all frames.
func (r *Reader) FindByRole(ctx context.Context, role, name string) ([]Sighting, error) {
	var found []Sighting
	err := r.page.Run(ctx, "looking for an element", 0, func(ctx context.Context) error {
		return r.frames.Each(ctx, func(id protocol.FrameID) error {
			sighted, err := r.sight(ctx, id, role, false)
			for _, s := range sighted {
				if !strings.Contains(folded(s.Name), folded(name)) {
					continue
				}
				if !r.frameShown(ctx, id) {
					return nil
				}
				if s.Frame, err = r.frameLocator(ctx, id); err != nil {
					return err
				}
				found = append(found, s)
			}
			return err
		})
	})
	return found, err
}

// frameShown reports whether a frame can be seen. Its own document does not know.
func (r *Reader) frameShown(ctx context.Context, id protocol.FrameID) bool {
	for id != r.frames.Main() {
		f, ok := r.frames.Frame(id)
		if !ok || f.Parent == "" {
			return false
		}
		e, err := r.frames.Owner(ctx, f)
		if err != nil {
			return false // it has gone
		}
		var seen bool
		err = e.Run(ctx, seenFunction, nil, &seen)
		e.Release(ctx)
		if err != nil || !seen {
			return false
		}
		id = f.Parent
	}
	return true
}

// sight lists the elements of a role in one frame; also clipped ones, if wanted.
func (r *Reader) sight(ctx context.Context, id protocol.FrameID, role string, clipped bool) ([]Sighting, error) {
	seen, err := r.outlineDocument(ctx, id, nil, Options{look: role, clipped: clipped})
	if err != nil {
		return nil, err
	}
	return sightings(seen.Sighted), nil
}

// sightings are pairs of a ref's number and a name.
func sightings(pairs []any) (found []Sighting) {
	for i := 0; i+1 < len(pairs); i += 2 {
		n, _ := pairs[i].(float64)
		name, _ := pairs[i+1].(string)
		found = append(found, Sighting{Ref: fmt.Sprintf("e%d", int(n)), Name: name})
	}
	return found
}

// folded normalizes a text for comparison, as Playwright's locators do.
func folded(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// VerifyText checks that a text is shown in one of the frames, and returns Playwright's
// locator of that frame, which is empty for the main frame.
func (r *Reader) VerifyText(ctx context.Context, text string) (locator string, err error) {
	shown := false
	err = r.page.Run(ctx, "looking for a text", 0, func(ctx context.Context) error {
		return r.frames.Each(ctx, func(id protocol.FrameID) error {
			if shown {
				return nil
			}
			var missing []string
			err := r.frames.Run(ctx, id, shownFunction, map[string]any{"texts": []string{text}}, &missing)
			if shown = err == nil && len(missing) == 0 && r.frameShown(ctx, id); shown {
				locator, err = r.frameLocator(ctx, id)
			}
			return err
		})
	})
	if err == nil && !shown {
		err = &VerifyError{fmt.Sprintf("the text %q is not shown", text)}
	}
	return locator, err
}

// VerifyItems checks that all texts are shown within a target.
func (r *Reader) VerifyItems(ctx context.Context, target string, items []string) error {
	return r.onElement(ctx, "looking for the items", target, func(ctx context.Context, e *frame.Element) error {
		var missing []string
		if err := e.Run(ctx, shownFunction, map[string]any{"texts": items}, &missing); err != nil {
			return err
		}
		if len(missing) > 0 {
			return &VerifyError{fmt.Sprintf("%s does not show %q", target, missing)}
		}
		return nil
	})
}

// VerifyValue checks the value of a control: its text, for a checkbox or radio button
// true or false, for a dropdown the option's value or label.
func (r *Reader) VerifyValue(ctx context.Context, target, kind, value string) error {
	return r.onElement(ctx, "reading the value", target, func(ctx context.Context, e *frame.Element) error {
		var held []string
		if err := e.Run(ctx, valueFunction, map[string]any{"type": kind}, &held); err != nil {
			return err
		}
		switch {
		case len(held) == 0:
			return &frame.TargetError{Target: target, Reason: "has no value: it is no " + kind}
		case !slices.Contains(held, value):
			return &VerifyError{fmt.Sprintf("%s holds %q, not %q", target, held[0], value)}
		}
		return nil
	})
}
