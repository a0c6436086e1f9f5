package tools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/pick"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
	"browser-coordinator/vscodeipc"
)

type pickIn struct {
	Message string  `json:"message,omitempty" about:"what to point at"`
	Timeout float64 `json:"timeout,omitempty" about:"seconds, default 60"`
	inPage
}

var _ = define(definition[pickIn]{
	Name: "pick_element", Title: "Pick element",
	Description: "Ask the user to click an element in the page, and learn which it was",
	Effect:      Reads,
	Do:          onPage(pickElement),
	Shell:       []command{{Name: "pick", Args: "[message]"}},
	Returns: "the element that the user clicked: its snapshot line with its ref, selector, box, text, attributes and " +
		"a picture; with a development build also the framework's component and source. Escape, Cancel and the " +
		"timeout are errors",
	Notes: "`timeout` is at most 600 seconds. It uses the browser's own inspect mode, so it works in any visible " +
		"browser of the window. " +
		"The page of a headless browser is shown to the user by the window, whose live view forwards the click. " +
		"A headless browser that is not a window's is refused at once.",
	Example: `{"message": "the field that is wrong"}`,
})

// pickTimeout is how long the user has to select an element.
const pickTimeout, longestPick = time.Minute, 10 * time.Minute

// errNoPick reports that the user chose not to select an element.
var errNoPick = errors.New("the user declined to point at an element: continue without it, or ask in words")

// errUnseen reports a headless browser that no window shows to a user.
var errUnseen = errors.New("nobody can point at an element of this page: its browser is headless, and no VS Code " +
	"window shows it. Find the element with browser_snapshot or browser_find, or ask the user in words")

func pickElement(ctx context.Context, c *agent.Call, p *page.Page, in pickIn) error {
	timeout := pickTimeout
	if in.Timeout > 0 {
		timeout = min(time.Duration(in.Timeout*float64(time.Second)), longestPick)
	}
	headless, err := p.Headless(ctx)
	if err != nil {
		return err
	}
	window, canAsk := windowToAsk(ctx, c)
	if headless && !(canAsk && c.InWindow()) {
		return errUnseen
	}
	question := vscodeipc.PickArg{Client: c.Info(), Message: in.Message, Seconds: timeout.Seconds()}
	if c.InWindow() {
		question.Page = p.ID()
	}
	picking, stop := context.WithCancelCause(ctx)
	var asking sync.WaitGroup
	picked, err := p.Picker().Pick(picking, timeout, func() {
		if canAsk {
			asking.Go(func() { askToPick(picking, c, window, question, stop) })
		}
	})
	stop(nil) // dismisses the question in the window
	asking.Wait()
	switch {
	case errors.Is(err, pick.ErrCancelled), errors.Is(err, errNoPick):
		return errNoPick
	case err != nil:
		return err
	}
	describe(c.Out, picked)
	return nil
}

// windowToAsk is the window whose user is asked. Where there is none, only the highlight in
// the page asks.
func windowToAsk(ctx context.Context, c *agent.Call) (registry.Window, bool) {
	window, err := c.Resolve(ctx)
	return window, err == nil && slices.Contains(window.Commands, vscodeipc.CommandPickStart)
}

// askToPick shows the question in the window, and cancels the pick when the user declines.
func askToPick(ctx context.Context, c *agent.Call, window registry.Window, question vscodeipc.PickArg,
	stop context.CancelCauseFunc) {
	var r vscodeipc.PickResult
	err := c.Windows.Call(ctx, window, vscodeipc.CommandPickStart, question, &r)
	switch {
	case err == nil && r.Outcome == "cancelled":
		stop(errNoPick)
	case err != nil && ctx.Err() == nil:
		c.Log.Warn("the window could not ask for an element", "error", err)
	}
}

func describe(out *answer.Answer, p pick.Picked) {
	if p.Line != "" {
		out.Quotef("- %s", p.Line)
	}
	out.Quotef("Selector: %s", p.Selector)
	out.Quotef("<%s> at %.0f,%.0f, %.0f x %.0f, on %s", p.Tag, p.X, p.Y, p.Width, p.Height, p.URL)
	if p.Text != "" {
		out.Quotef("Text: %s", p.Text)
	}
	names := slices.Sorted(maps.Keys(p.Attributes))
	for i, name := range names {
		names[i] = fmt.Sprintf("%s=%q", name, p.Attributes[name])
	}
	if len(names) > 0 {
		out.Quotef("Attributes: %s", strings.Join(names, " "))
	}
	if c := p.Component; c != nil {
		out.Quotef("Component: %s", c)
	}
	out.Picture(p.Image.Data, p.Image.Format)
}
