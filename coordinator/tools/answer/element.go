package answer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"browser-coordinator/coordinator/page/pick"
)

// Element adds an element that the user has picked, without its picture.
func (a *Answer) Element(p pick.Picked) {
	if p.Line != "" {
		a.Quotef("- %s", p.Line)
	}
	a.Quotef("Selector: %s", p.Selector)
	if p.Width > 0 || p.Height > 0 {
		a.Quotef("<%s> at %.0f,%.0f, %.0f x %.0f, on %s", p.Tag, p.X, p.Y, p.Width, p.Height, p.URL)
	}
	if p.Text != "" {
		a.Quotef("Text: %s", p.Text)
	}
	names := slices.Sorted(maps.Keys(p.Attributes))
	for i, name := range names {
		names[i] = fmt.Sprintf("%s=%q", name, p.Attributes[name])
	}
	if len(names) > 0 {
		a.Quotef("Attributes: %s", strings.Join(names, " "))
	}
	if c := p.Component; c != nil {
		a.Quotef("Component: %s", c)
	}
}
