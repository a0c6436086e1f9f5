package snapshot

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page/frame"
)

// locations are the properties by which locate.js identifies an element.
type locations struct{ TestID, Placeholder, Label, Alt, Title, CSS string }

// Locator is a Playwright expression that matches only the target. It prefers names that
// a user or author gives over the structure of the document.
func (r *Reader) Locator(ctx context.Context, target string) (javascript.Expression, error) {
	var locator javascript.Expression
	err := r.withElement(ctx, "looking for a locator", target, func(ctx context.Context, e *frame.Element) (err error) {
		if locator, err = r.locator(ctx, e); err != nil {
			return err
		}
		frames, err := r.frameLocator(ctx, e.Frame)
		locator = chained(frames, locator)
		return err
	})
	return locator, err
}

// chained is a locator within another one, each of which may be zero.
func chained(in, locator javascript.Expression) javascript.Expression {
	switch {
	case in.IsZero():
		return locator
	case locator.IsZero():
		return in
	}
	return javascript.Of("$.$", in, locator)
}

func (r *Reader) locator(ctx context.Context, e *frame.Element) (javascript.Expression, error) {
	var l locations
	if err := e.Run(ctx, locateFunction, nil, &l); err != nil {
		return javascript.Expression{}, err
	}
	if l.TestID != "" {
		return javascript.Of("getByTestId($)", l.TestID), nil
	}
	byRole, alone, err := r.roleLocator(ctx, e)
	if alone || err != nil {
		return byRole, err
	}
	exact := javascript.Of("{ exact: true }")
	switch {
	case l.Label != "":
		return javascript.Of("getByLabel($, $)", l.Label, exact), nil
	case l.Placeholder != "":
		return javascript.Of("getByPlaceholder($, $)", l.Placeholder, exact), nil
	case l.Alt != "":
		return javascript.Of("getByAltText($, $)", l.Alt, exact), nil
	case l.Title != "":
		return javascript.Of("getByTitle($, $)", l.Title, exact), nil
	case byRole.IsZero():
		return javascript.Of("locator($)", l.CSS), nil
	}
	return byRole, nil
}

// ours are the roles of snapshots that ARIA does not have: getByRole does not match
// them.
var ours = map[string]bool{
	"generic": true, "none": true, "date": true, "time": true, "datetime-local": true, "month": true,
	"week": true, "color": true, "summary": true, "canvas": true, "video": true, "audio": true, "iframe": true,
}

// IsARIA reports whether Playwright finds elements by a role of snapshots.
func IsARIA(role string) bool { return !ours[role] }

// roleLocator finds an element by its role and name, with its number if it is not alone.
// It is empty for an element without them.
func (r *Reader) roleLocator(
	ctx context.Context, e *frame.Element,
) (locator javascript.Expression, alone bool, err error) {
	own, err := r.outlineDocument(ctx, e.Frame, e, Options{look: selfRole, clipped: true, Depth: 1})
	if err != nil {
		return locator, false, err
	}
	role := own.Self
	if role == "" || !IsARIA(role) || len(own.Sighted) < 2 { // without a sighting, it is hidden
		return locator, false, nil
	}
	self := sightings(own.Sighted)[0]
	if self.Name == "" || strings.HasSuffix(self.Name, "…") {
		return locator, false, nil
	}
	all, err := r.sight(ctx, e.Frame, role, true) // Playwright counts what is clipped
	if err != nil {
		return locator, false, err
	}
	like, same, at := 0, 0, -1
	for _, s := range all {
		if strings.Contains(folded(s.Name), folded(self.Name)) {
			like++
		}
		if s.Ref == self.Ref {
			at = same
		}
		if s.Name == self.Name {
			same++
		}
	}
	exact := javascript.Of("getByRole($, { name: $, exact: true })", role, self.Name)
	switch {
	case like == 1:
		return javascript.Of("getByRole($, { name: $ })", role, self.Name), true, nil
	case same == 1:
		return exact, true, nil
	case at < 0:
		return locator, false, nil
	}
	return javascript.Of("$.nth($)", exact, at), false, nil
}

// Places are where the elements that have refs are shown now, by their refs.
func (r *Reader) Places(ctx context.Context) (map[string]frame.Rect, error) {
	places := map[string]frame.Rect{}
	err := r.page.Run(ctx, "looking for the elements", 0, func(ctx context.Context) error {
		read, err := r.outline(ctx, r.page.Frames.Main(), nil, Options{Interactive: true})
		if err != nil {
			return err
		}
		var numbers []int
		for _, ref := range refPattern().FindAllStringSubmatch(read.Text, -1) {
			n, _ := strconv.Atoi(ref[1])
			numbers = append(numbers, n)
		}
		return r.page.Frames.Each(ctx, func(id protocol.FrameID) error {
			found, err := r.page.Frames.Places(ctx, id, numbers)
			for n, place := range found {
				places["e"+strconv.Itoa(n)] = place
			}
			return err
		})
	})
	return places, err
}

var refPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` ?\[ref=e(\d+)\]`) })

// frameLocator is the path from the page to a frame; zero for the main frame.
func (r *Reader) frameLocator(ctx context.Context, id protocol.FrameID) (locator javascript.Expression, err error) {
	for id != r.page.Frames.Main() {
		f, ok := r.page.Frames.Frame(id)
		if !ok || f.Parent == "" {
			return locator, frame.ErrGone
		}
		e, err := r.page.Frames.Owner(ctx, f)
		if err != nil {
			return locator, err
		}
		var l locations
		err = e.Run(ctx, locateFunction, nil, &l)
		e.Release(ctx)
		if err != nil {
			return locator, err
		}
		locator = chained(javascript.Of("locator($).contentFrame()", l.CSS), locator)
		id = f.Parent
	}
	return locator, nil
}
