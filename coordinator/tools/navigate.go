package tools

import (
	"context"
	"errors"

	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/policy"
)

type navigateIn struct {
	URL    string `json:"url,omitempty" is:"subject"`
	Action string `json:"action,omitempty" about:"instead: back, forward or reload" oneof:"back forward reload" is:"subject"`
	inPage
}

var _ = define(Tool{
	Name: "browser_navigate", Title: "Navigate", Description: "Open a URL in the tab, or go through its history",
	Effect: Acts, Category: policy.Navigation,
	Steps: []action{
		{Name: "navigate", Aliases: []string{"goto"}},
		{Name: "back", Adapt: through("back"), Example: `{}`},
		{Name: "forward", Adapt: through("forward"), Example: `{}`},
		{Name: "reload", Adapt: through("reload"), Example: `{}`},
	},
	Shell: []command{
		{Name: "open", Summary: "Open a URL in the tab", Args: "url", Omits: "action", Step: "navigate"},
		{Name: "back", Summary: "Go back in the tab's history", Omits: "url action"},
		{Name: "forward", Summary: "Go forward in the tab's history", Omits: "url action"},
		{Name: "reload", Summary: "Reload the page", Omits: "url action"},
	},
	Replaces: map[string]string{"browser_navigate_back": "with action back"},
	Returns:  "title, URL, the beginning of the page, console warnings and errors",
	Notes:    "A URL without a scheme gets `http` for this machine, else `https`. A path belongs to the page's host.",
	Example:  `{"url": "http://localhost:3000/cart"}`,
}, calls[navigateIn]{
	Beyond: leavesSite,
	Opens:  func(in navigateIn) bool { return in.URL != "" },
	Leaves: func(navigateIn) bool { return true },
	Do:     navigate,
	Code: func(in navigateIn, d *agent.Record) export.Step {
		switch in.Action {
		case "back":
			return code(javascript.Format("$.goBack()", d.Page))
		case "forward":
			return code(javascript.Format("$.goForward()", d.Page))
		case "reload":
			return code(javascript.Format("$.reload()", d.Page))
		}
		to, err := address.Normalize(in.URL, d.URL())
		if err != nil {
			to = in.URL
		}
		if d.Downloaded() {
			return code(javascript.Format("Promise.all([$.waitForEvent('download'), $.goto($).catch(() => {})])", d.Page,
				d.Page, to))
		}
		return export.Step{Code: []javascript.Expression{javascript.Format("$.goto($)", d.Page, to)}, Opens: to}
	},
})

// through makes a step of one action a navigation.
func through(history string) func(map[string]any) map[string]any {
	return func(arguments map[string]any) map[string]any {
		arguments["action"] = history
		return arguments
	}
}

// leavesSite reports whether a call goes to another site. Its page could do so too, but not as a user
// does who types an address: with all cookies.
func leavesSite(ctx context.Context, p *page.Page, in navigateIn) bool {
	to, err := p.URL(), error(nil)
	switch in.Action {
	case "back", "forward":
		to, err = p.Ahead(ctx, in.Action == "back")
	case "":
		to, err = address.Normalize(in.URL, p.URL())
	}
	return err != nil || address.Origin(to) != p.Site()
}

func navigate(ctx context.Context, c *agent.Call, in navigateIn) error {
	if (in.URL == "") == (in.Action == "") {
		return errors.New("give a url, or the action back, forward or reload")
	}
	p, err := c.AnyPage(ctx)
	if err == nil {
		err = c.Agent.MayShow(ctx, p.Folders(), in.URL)
	}
	if err == nil {
		err = c.Agent.Bind(ctx, p, in.URL)
	}
	if err != nil {
		return err
	}
	var change page.Change
	switch in.Action {
	case "back":
		change, err = p.Traverse(ctx, true)
	case "forward":
		change, err = p.Traverse(ctx, false)
	case "reload":
		change, err = p.Reload(ctx)
	default:
		change, err = p.Navigate(ctx, in.URL)
	}
	if err != nil {
		return err
	}
	// The answer names the page also where the document stayed the same: for example after
	// a download or a dialog.
	change.Navigated = true
	c.Changed(change)
	return nil
}
