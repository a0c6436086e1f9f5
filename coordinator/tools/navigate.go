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

var _ = define(definition[navigateIn]{
	Name: "browser_navigate", Title: "Navigate", Description: "Open a URL in the tab, or go through its history",
	Effect: Acts, Category: policy.Navigation,
	Opens:  func(in navigateIn) bool { return in.URL != "" },
	Leaves: func(navigateIn) bool { return true },
	Do:     navigate,
	Code: func(in navigateIn, d *agent.Done) export.Step {
		switch in.Action {
		case "back":
			return code(javascript.Of("$.goBack()", d.Page))
		case "forward":
			return code(javascript.Of("$.goForward()", d.Page))
		case "reload":
			return code(javascript.Of("$.reload()", d.Page))
		}
		to, err := address.Normalize(in.URL, d.URL())
		if err != nil {
			to = in.URL
		}
		return export.Step{Code: []javascript.Expression{javascript.Of("$.goto($)", d.Page, to)}, Opens: to}
	},
	Steps: []action{{Name: "navigate", Also: []string{"goto"}}},
	Shell: []command{
		{Name: "open", About: "Open a URL in the tab", Args: "url", Without: "action", Step: "navigate"},
		{Name: "back", About: "Go back in the tab's history", Given: `{"action": "back"}`, Without: "url",
			Step: "navigate"},
		{Name: "forward", About: "Go forward in the tab's history", Given: `{"action": "forward"}`, Without: "url",
			Step: "navigate"},
		{Name: "reload", About: "Reload the page", Given: `{"action": "reload"}`, Without: "url", Step: "navigate"},
	},
	Replaces: map[string]string{"browser_navigate_back": "with action back"},
	Returns:  "title, URL, the beginning of the page, console warnings and errors",
	Notes:    "A URL without a scheme gets `http` for this machine, else `https`. A path belongs to the page's host.",
	Example:  `{"url": "http://localhost:3000/cart"}`,
})

func navigate(ctx context.Context, c *agent.Call, in navigateIn) error {
	if (in.URL == "") == (in.Action == "") {
		return errors.New("give a url, or the action back, forward or reload")
	}
	p, err := c.AnyPage(ctx)
	if err == nil {
		err = c.MayShow(ctx, p.Folders(), in.URL)
	}
	if err == nil {
		err = c.Bind(ctx, p, in.URL)
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
