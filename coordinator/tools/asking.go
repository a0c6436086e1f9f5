package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/vscodeipc"
)

type pickIn struct {
	Message string  `json:"message,omitempty" jsonschema:"what the user is to point at"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"seconds (60)"`
	inWindow
}

type reviewIn struct {
	Markdown string `json:"markdown"`
	Title    string `json:"title,omitempty"`
	Mode     string `json:"mode,omitempty" jsonschema:"replace (default), append or update-section"`
	Section  string `json:"section,omitempty" jsonschema:"its heading"`
	inWindow
}

func (s *Server) addUserTools() {
	add(s, &mcp.Tool{
		Name:        "pick_element",
		Description: "Ask the user to click an element in the page, and learn which it was",
		Annotations: reads("Pick an element"),
	}, pickElement)
	add(s, &mcp.Tool{
		Name:        "present_review",
		Description: "Show the user Markdown beside the code; links to files open there",
		Annotations: ours(adjusts("Present a review")),
	}, presentReview)
}

// pickPatience is how long the user has to select an element.
const pickPatience, longestPick = time.Minute, 10 * time.Minute

// errNoPick reports that the user chose not to select an element.
var errNoPick = errors.New("the user did not want to point at an element: go on without, or ask in words")

func pickElement(ctx context.Context, a *agent, in pickIn) (*answer, error) {
	patience := pickPatience
	if in.Timeout > 0 {
		patience = min(time.Duration(in.Timeout*float64(time.Second)), longestPick)
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	picking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	asked := make(chan struct{})
	var once sync.Once
	ask := func() { go a.askToPick(picking, in, patience, stop, asked) }
	picked, err := p.Pick(picking, patience, func() { once.Do(ask) })
	stop(nil)                        // dismisses the question in the window
	once.Do(func() { close(asked) }) // the question was not shown
	<-asked
	switch {
	case errors.Is(err, page.ErrPickCancelled), errors.Is(err, errNoPick):
		return nil, errNoPick
	case err != nil:
		return nil, err
	}
	return describe(a, picked), nil
}

// askToPick shows the question in the window, if the window can, and cancels the pick
// when the user declines.
func (a *agent) askToPick(ctx context.Context, in pickIn, patience time.Duration, stop context.CancelCauseFunc, done chan<- struct{}) {
	defer close(done)
	window, err := a.windowFor(ctx, in.Window)
	if err != nil || !slices.Contains(window.Commands, vscodeipc.CommandPickStart) {
		return // only the highlight in the page asks
	}
	var r vscodeipc.PickResult
	err = a.server.options.Windows.Call(ctx, window, vscodeipc.CommandPickStart, vscodeipc.PickArg{
		Client: a.info(), Message: in.Message, Seconds: patience.Seconds(),
	}, &r)
	switch {
	case err == nil && r.Outcome == "cancelled":
		stop(errNoPick)
	case err != nil && ctx.Err() == nil:
		a.log.Warn("the window could not ask for an element", "error", err)
	}
}

func describe(a *agent, p page.Picked) *answer {
	out := a.begin()
	if p.Line != "" {
		out.quotef("- %s", p.Line)
	}
	out.quotef("Selector: %s", p.Selector)
	out.quotef("<%s> at %.0f,%.0f, %.0f x %.0f, on %s", p.Tag, p.X, p.Y, p.Width, p.Height, p.URL)
	if p.Text != "" {
		out.quotef("Text: %s", p.Text)
	}
	names := make([]string, 0, len(p.Attributes))
	for name := range p.Attributes {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s=%q", name, p.Attributes[name])
	}
	if len(names) > 0 {
		out.quotef("Attributes: %s", strings.Join(names, " "))
	}
	if c := p.Component; c != nil {
		line := fmt.Sprintf("Component: %s (%s)", c.Name, c.Framework)
		if len(c.Owners) > 0 {
			line += " in " + strings.Join(c.Owners, " in ")
		}
		if c.Place != "" {
			line += ", " + c.Place
		}
		out.quote(line)
	}
	out.image, out.mime = p.Image.Data, "image/"+p.Image.Format
	return out
}

func presentReview(ctx context.Context, a *agent, in reviewIn) (*answer, error) {
	if in.Mode == "" {
		in.Mode = "replace"
	}
	if in.Title == "" {
		in.Title = "Review"
	}
	var r vscodeipc.ReviewResult
	window, err := a.ask(ctx, in.inWindow, vscodeipc.CommandReviewPresent, vscodeipc.ReviewArg{
		Client: a.info(), Title: in.Title, Markdown: in.Markdown, Mode: in.Mode, Section: in.Section,
	}, &r)
	if err != nil {
		return nil, err
	}
	if !r.Shown {
		return nil, fmt.Errorf("%s did not show it", window.Label())
	}
	out := &answer{}
	out.addf("The user sees it in %s.", window.Label())
	return out, nil
}

// windowFor is the selected window, with or without a browser.
func (a *agent) windowFor(ctx context.Context, name string) (registry.Window, error) {
	window, _, err := a.server.options.Windows.Resolve(ctx, a.want(ctx, name))
	return window, err
}
