// Package component reads which component of a framework has rendered an element.
package component

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/sources"
)

//go:embed component.js
var function string

// Component is the framework's component that rendered an element, as the framework's
// development build has it.
type Component struct {
	Framework string `json:"framework"`
	Name      string `json:"name"`
	// Owners are the components around it, nearest first.
	Owners []string `json:"owners"`
	// File, Line and Column come from the framework's compiler and start at 1; empty and 0
	// if it sets none. A React 19 build sets Stack instead.
	File         string `json:"file"`
	Line, Column int
	Stack        string `json:"stack"`
	// Props and State have a line for each member; nil if they were not asked for.
	Props []string `json:"props"`
	State []string `json:"state"`
	// Place, file:line:column, is the position of its element in the source, or in the
	// workspace if a source map leads there. Of Angular it is file:line of the component's
	// class, of Vue the component's file. Empty if unknown.
	Place string `json:"-"`
}

// These limit what a page can report as its components.
const (
	timeout     = 5 * time.Second
	longestName = 200
	longestLine = 2000
	mostOwners  = 8
	mostLines   = 60
)

// Find is the component of a node, nil without one; with whole also its props and state. It takes a
// handle in the page's main world, and runs a script there: frameworks keep their data in properties of DOM
// nodes, which no isolated world has. The page can detect that and return anything. The result
// is therefore untrusted text of bounded size.
func Find(
	ctx context.Context, s *cdp.Session, handle runtime.RemoteObjectID, from *sources.Sources, whole bool,
) *Component {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	e := &frame.Element{Target: "the element", Session: s, Handle: handle}
	var c *Component
	if err := e.Run(bounded, function, whole, &c); err != nil || c == nil {
		return nil // the page may have set these fields to anything
	}
	c.Owners = c.Owners[:min(len(c.Owners), mostOwners)]
	c.Framework, c.Name, c.File = line(c.Framework, longestName), line(c.Name, longestName), line(c.File, longestName)
	for i, owner := range c.Owners {
		c.Owners[i] = line(owner, longestName)
	}
	c.Props, c.State = lines(c.Props), lines(c.State)
	switch {
	case c.File == "":
		c.Place = from.OfComponent(ctx, c.Stack, c.Name)
	case c.Line == 0:
		c.Place = c.File
	case c.Column == 0:
		c.Place = fmt.Sprintf("%s:%d", c.File, c.Line)
	default:
		c.Place = fmt.Sprintf("%s:%d:%d", c.File, c.Line, c.Column)
	}
	return c
}

// String is the component in one line.
func (c *Component) String() string {
	text := fmt.Sprintf("%s (%s)", c.Name, c.Framework)
	if len(c.Owners) > 0 {
		text += " in " + strings.Join(c.Owners, " in ")
	}
	if c.Place != "" {
		text += ", " + c.Place
	}
	return text
}

func lines(all []string) []string {
	all = all[:min(len(all), mostLines)]
	for i, text := range all {
		all[i] = line(text, longestLine)
	}
	return all
}

// line puts a text from the page on one line and shortens it.
func line(text string, limit int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	return string(runes[:min(len(runes), limit)])
}
