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

// Location is what an element can be found by. Role, Name and the numbers are those of the
// elements of the same role: how many have names that contain its name, how many have the same,
// and which of these it is.
type Location struct {
	TestID, Placeholder, Label, Alt, Title, CSS string
	Role, Name                                  string
	Like, Same, Index                           int
}

// longestText bounds the texts of a locator, in bytes: a longer one is of no use to a reader.
const longestText = 500

// Locator is a Playwright expression that matches only the element. It prefers names that a user
// or author gives over the structure of the document.
func (l Location) Locator() javascript.Expression {
	for _, text := range []*string{&l.TestID, &l.Placeholder, &l.Label, &l.Alt, &l.Title, &l.Name} {
		if len(*text) > longestText {
			*text = ""
		}
	}
	if l.TestID != "" {
		return javascript.Format("getByTestId($)", l.TestID)
	}
	byRole, alone := l.byRole()
	exact := javascript.Format("{ exact: true }")
	switch {
	case alone:
		return byRole
	case l.Label != "":
		return javascript.Format("getByLabel($, $)", l.Label, exact)
	case l.Placeholder != "":
		return javascript.Format("getByPlaceholder($, $)", l.Placeholder, exact)
	case l.Alt != "":
		return javascript.Format("getByAltText($, $)", l.Alt, exact)
	case l.Title != "":
		return javascript.Format("getByTitle($, $)", l.Title, exact)
	case byRole.IsZero():
		return javascript.Format("locator($)", l.CSS)
	}
	return byRole
}

// byRole finds the element by its role and name, with its number if it is not alone. It is zero
// for an element without them.
func (l Location) byRole() (locator javascript.Expression, alone bool) {
	if l.Role == "" || !IsARIA(l.Role) || l.Name == "" || strings.HasSuffix(l.Name, "…") {
		return locator, false
	}
	exact := javascript.Format("getByRole($, { name: $, exact: true })", l.Role, l.Name)
	switch {
	case l.Like == 1:
		return javascript.Format("getByRole($, { name: $ })", l.Role, l.Name), true
	case l.Same == 1:
		return exact, true
	case l.Index < 0:
		return locator, false
	}
	return javascript.Format("$.nth($)", exact, l.Index), false
}

// Locator is a Playwright expression that matches only the target.
func (r *Reader) Locator(ctx context.Context, target string) (javascript.Expression, error) {
	var locator javascript.Expression
	err := r.withElement(ctx, "looking for a locator", target, func(ctx context.Context, e *frame.Element) (err error) {
		if locator, err = r.locator(ctx, e); err != nil {
			return err
		}
		frames, err := r.FrameLocator(ctx, e.Frame)
		locator = InFrame(frames, locator)
		return err
	})
	return locator, err
}

// InFrame is a locator within that of a frame, each of which may be zero.
func InFrame(in, locator javascript.Expression) javascript.Expression {
	switch {
	case in.IsZero():
		return locator
	case locator.IsZero():
		return in
	}
	return javascript.Format("$.$", in, locator)
}

func (r *Reader) locator(ctx context.Context, e *frame.Element) (javascript.Expression, error) {
	var l Location
	if err := e.Call(ctx, "locate", nil, &l); err != nil || l.TestID != "" {
		return l.Locator(), err
	}
	err := r.countAlike(ctx, e, &l)
	return l.Locator(), err
}

// ours are the roles of snapshots that ARIA does not have: getByRole does not match
// them.
var ours = map[string]bool{
	"generic": true, "none": true, "date": true, "time": true, "datetime-local": true, "month": true,
	"week": true, "color": true, "summary": true, "canvas": true, "video": true, "audio": true, "iframe": true,
}

// IsARIA reports whether Playwright finds elements by a role of snapshots.
func IsARIA(role string) bool { return !ours[role] }

// countAlike adds the role of an element, and the elements of the same role. An element without a
// name has none.
func (r *Reader) countAlike(ctx context.Context, e *frame.Element, l *Location) error {
	own, err := r.outlineDocument(ctx, e.Frame, e, Options{look: selfRole, clipped: true, Depth: 1})
	if err != nil {
		return err
	}
	l.Role = own.Self
	if l.Role == "" || !IsARIA(l.Role) || len(own.Sighted) < 2 { // without a sighting, it is hidden
		return nil
	}
	self := sightings(own.Sighted)[0]
	if l.Name = self.Name; l.Name == "" || strings.HasSuffix(l.Name, "…") || len(l.Name) > longestText {
		return nil
	}
	all, err := r.sight(ctx, e.Frame, l.Role, true) // Playwright counts what is clipped
	if err != nil {
		return err
	}
	l.Index = -1
	name := folded(self.Name)
	for _, s := range all {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if strings.Contains(folded(s.Name), name) {
			l.Like++
		}
		if s.Ref == self.Ref {
			l.Index = l.Same
		}
		if s.Name == self.Name {
			l.Same++
		}
	}
	return nil
}

// Places are where the elements that have refs are shown now, by their refs.
func (r *Reader) Places(ctx context.Context) (map[string]frame.Rect, error) {
	places := map[string]frame.Rect{}
	err := r.page.Run(ctx, "looking for the elements", 0, func(ctx context.Context) error {
		read, err := r.document(ctx, Options{Interactive: true})
		if err != nil {
			return err
		}
		var numbers []int
		for _, ref := range refPattern().FindAllStringSubmatch(read.Text, -1) {
			n, _ := strconv.Atoi(ref[1])
			numbers = append(numbers, n)
		}
		return r.page.Frames.ForEach(ctx, func(id protocol.FrameID) error {
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

// FrameLocator is the path from the page to a frame; zero for the main frame.
func (r *Reader) FrameLocator(ctx context.Context, id protocol.FrameID) (locator javascript.Expression, err error) {
	for id != r.page.Frames.Main() {
		f, ok := r.page.Frames.Frame(id)
		if !ok || f.Parent == "" {
			return locator, frame.ErrGone
		}
		e, err := r.page.Frames.Owner(ctx, f)
		if err != nil {
			return locator, err
		}
		var l Location
		err = e.Call(ctx, "locate", nil, &l)
		e.Release(ctx)
		if err != nil {
			return locator, err
		}
		locator = InFrame(javascript.Format("locator($).contentFrame()", l.CSS), locator)
		id = f.Parent
	}
	return locator, nil
}
