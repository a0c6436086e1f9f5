package snapshot

import (
	"context"
	"fmt"
	"strings"

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
		locator = frames + locator
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
	byRole, err := r.roleLocator(ctx, e)
	if byRole != "" || err != nil {
		return byRole, err
	}
	for _, c := range []struct{ method, value string }{
		{"getByLabel", l.Label}, {"getByPlaceholder", l.Placeholder}, {"getByAltText", l.Alt}, {"getByTitle", l.Title},
	} {
		if c.value != "" {
			return c.method + "(" + quoted(c.value) + ", { exact: true })", nil
		}
	}
	return "locator(" + quoted(l.CSS) + ")", nil
}

// ours are the roles of snapshots that ARIA does not have: getByRole does not match
// them.
var ours = map[string]bool{
	"generic": true, "none": true, "date": true, "color": true, "summary": true, "canvas": true, "video": true, "audio": true, "iframe": true,
}

// roleLocator is empty if other elements have the same role and name.
func (r *Reader) roleLocator(ctx context.Context, e *frame.Element) (string, error) {
	own, err := r.outlineDocument(ctx, e.Frame, e, Options{look: selfRole, Depth: 1})
	if err != nil {
		return "", err
	}
	role := own.Self
	if role == "" || ours[role] || len(own.Sighted) < 2 { // without a sighting, it is hidden
		return "", nil
	}
	name, _ := own.Sighted[1].(string)
	if name == "" || strings.HasSuffix(name, "…") {
		return "", nil
	}
	all, err := r.sight(ctx, e.Frame, role)
	if err != nil {
		return "", err
	}
	like, same := 0, 0
	for _, s := range all {
		if strings.Contains(folded(s.Name), folded(name)) {
			like++
		}
		if s.Name == name {
			same++
		}
	}
	switch {
	case like == 1:
		return fmt.Sprintf("getByRole(%s, { name: %s })", quoted(role), quoted(name)), nil
	case same == 1:
		return fmt.Sprintf("getByRole(%s, { name: %s, exact: true })", quoted(role), quoted(name)), nil
	}
	return "", nil
}

// frameLocator is the path from the page to a frame; empty for the main frame.
func (r *Reader) frameLocator(ctx context.Context, id protocol.FrameID) (string, error) {
	var path string
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
		path = "locator(" + quoted(l.CSS) + ").contentFrame()." + path
		id = f.Parent
	}
	return path, nil
}

// quoted returns a JavaScript string literal.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(s) + "'"
}
