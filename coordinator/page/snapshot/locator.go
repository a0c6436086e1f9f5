package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/coordinator/page/frame"
)

// locations are the properties by which locate.js identifies an element.
type locations struct{ TestID, Placeholder, Label, Alt, Title, CSS string }

// Locator is a Playwright expression that matches only the target. It prefers names that
// a user or author gives over the structure of the document.
func (r *Reader) Locator(ctx context.Context, target string) (string, error) {
	var locator string
	err := r.onElement(ctx, "looking for a locator", target, func(ctx context.Context, e *frame.Element) (err error) {
		if locator, err = r.locator(ctx, e); err != nil {
			return err
		}
		frames, err := r.frameLocator(ctx, e.Frame)
		if frames != "" {
			locator = frames + "." + locator
		}
		return err
	})
	return locator, err
}

func (r *Reader) locator(ctx context.Context, e *frame.Element) (string, error) {
	var l locations
	if err := e.Run(ctx, locateFunction, nil, &l); err != nil {
		return "", err
	}
	if l.TestID != "" {
		return "getByTestId(" + quoted(l.TestID) + ")", nil
	}
	byRole, alone, err := r.roleLocator(ctx, e)
	if alone || err != nil {
		return byRole, err
	}
	for _, c := range []struct{ method, value string }{
		{"getByLabel", l.Label}, {"getByPlaceholder", l.Placeholder}, {"getByAltText", l.Alt}, {"getByTitle", l.Title},
	} {
		if c.value != "" {
			return c.method + "(" + quoted(c.value) + ", { exact: true })", nil
		}
	}
	return cmp.Or(byRole, "locator("+quoted(l.CSS)+")"), nil
}

// ours are the roles of snapshots that ARIA does not have: getByRole does not match
// them.
var ours = map[string]bool{
	"generic": true, "none": true, "date": true, "time": true, "datetime-local": true, "month": true, "week": true, "color": true, "summary": true, "canvas": true, "video": true, "audio": true, "iframe": true,
}

// IsARIA reports whether Playwright finds elements by a role of snapshots.
func IsARIA(role string) bool { return !ours[role] }

// roleLocator finds an element by its role and name, with its number if it is not alone.
// It is empty for an element without them.
func (r *Reader) roleLocator(ctx context.Context, e *frame.Element) (locator string, alone bool, err error) {
	own, err := r.outlineDocument(ctx, e.Frame, e, Options{look: selfRole, clipped: true, Depth: 1})
	if err != nil {
		return "", false, err
	}
	role := own.Self
	if role == "" || !IsARIA(role) || len(own.Sighted) < 2 { // without a sighting, it is hidden
		return "", false, nil
	}
	self := sightings(own.Sighted)[0]
	if self.Name == "" || strings.HasSuffix(self.Name, "…") {
		return "", false, nil
	}
	all, err := r.sight(ctx, e.Frame, role, true) // Playwright counts what is clipped
	if err != nil {
		return "", false, err
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
	locator = fmt.Sprintf("getByRole(%s, { name: %s", quoted(role), quoted(self.Name))
	switch {
	case like == 1:
		return locator + " })", true, nil
	case same == 1:
		return locator + ", exact: true })", true, nil
	case at < 0:
		return "", false, nil
	}
	return fmt.Sprintf("%s, exact: true }).nth(%d)", locator, at), false, nil
}

// Places are where the elements that have refs are shown now, by their refs.
func (r *Reader) Places(ctx context.Context) (map[string]frame.Rect, error) {
	places := map[string]frame.Rect{}
	err := r.page.Run(ctx, "looking for the elements", 0, func(ctx context.Context) error {
		read, err := r.outline(ctx, r.frames.Main(), nil, Options{Interactive: true})
		if err != nil {
			return err
		}
		var numbers []int
		for _, ref := range refPattern().FindAllStringSubmatch(read.Text, -1) {
			n, _ := strconv.Atoi(ref[1])
			numbers = append(numbers, n)
		}
		return r.frames.Each(ctx, func(id protocol.FrameID) error {
			found, err := r.frames.Places(ctx, id, numbers)
			for n, place := range found {
				places["e"+strconv.Itoa(n)] = place
			}
			return err
		})
	})
	return places, err
}

var refPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` ?\[ref=e(\d+)\]`) })

// frameLocator is the path from the page to a frame; empty for the main frame.
func (r *Reader) frameLocator(ctx context.Context, id protocol.FrameID) (string, error) {
	var path []string
	for id != r.frames.Main() {
		f, ok := r.frames.Frame(id)
		if !ok || f.Parent == "" {
			return "", frame.ErrGone
		}
		e, err := r.frames.Owner(ctx, f)
		if err != nil {
			return "", err
		}
		var l locations
		err = e.Run(ctx, locateFunction, nil, &l)
		e.Release(ctx)
		if err != nil {
			return "", err
		}
		path = append([]string{"locator(" + quoted(l.CSS) + ").contentFrame()"}, path...)
		id = f.Parent
	}
	return strings.Join(path, "."), nil
}

// quoted returns a JavaScript string literal.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(s) + "'"
}
