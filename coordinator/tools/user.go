package tools

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/pick"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/vscodeipc"
)

type pickIn struct {
	Message string  `json:"message,omitempty" about:"what to point at"`
	Timeout float64 `json:"timeout,omitempty" about:"seconds, default 60"`
	inPage
}

var _ = define(Tool{
	Name: "pick_element", Title: "Pick element",
	Description: "Ask the user to click an element in the page, and learn which",
	Effect:      Reads,
	Shell:       []command{{Name: "pick", Args: "[message]"}},
	Returns: "its snapshot line with its ref, selector, box, text, attributes and a picture; with a development " +
		"build also the component and its source. Escape, Cancel and the timeout are errors",
	Notes: "`timeout` is at most 600 seconds. It works in any visible browser of the window; a headless one is " +
		"shown in the window's live view. A headless browser that is not a window's is refused.",
	Example: `{"message": "the field that is wrong"}`,
}, calls[pickIn]{Do: onPage(pickElement)})

// pickTimeout is how long the user has to select an element.
const pickTimeout, longestPick = time.Minute, 10 * time.Minute

// secondsUpTo is a time that a call asks for. Any number of seconds may be asked for.
func secondsUpTo(longest time.Duration, asked float64) time.Duration {
	return time.Duration(min(asked, longest.Seconds()) * float64(time.Second))
}

// errNoPick reports that the user chose not to select an element.
var errNoPick = errors.New("the user declined to point at an element: continue without it, or ask in words")

// errUnseen reports a headless browser that no window shows to a user.
var errUnseen = errors.New("nobody can point at an element of this page: its browser is headless, and no VS Code " +
	"window shows it. Find the element with browser_snapshot or browser_find, or ask the user in words")

func pickElement(ctx context.Context, c *agent.Call, p *page.Page, in pickIn) error {
	timeout := pickTimeout
	if in.Timeout > 0 {
		timeout = secondsUpTo(longestPick, in.Timeout)
	}
	headless, err := p.Headless(ctx)
	if err != nil {
		return err
	}
	window, canAsk := windowToAsk(ctx, c)
	if headless && !(canAsk && c.InWindow()) {
		return errUnseen
	}
	question := vscodeipc.PickArg{Client: c.Agent.Info(), Message: in.Message, Seconds: timeout.Seconds()}
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
	c.Out.Element(picked)
	c.Out.Picture(picked.Image.Data, picked.Image.Format)
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
	err := c.Agent.Windows.Call(ctx, window, vscodeipc.CommandPickStart, question, &r)
	switch {
	case err == nil && r.Outcome == "cancelled":
		stop(errNoPick)
	case err != nil && ctx.Err() == nil:
		c.Agent.Log.Warn("the window could not ask for an element", "error", err)
	}
}
