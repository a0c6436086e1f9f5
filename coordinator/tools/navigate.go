package tools

import (
	"context"
	"errors"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/tools/agent"
)

type navigateIn struct {
	URL    string `json:"url,omitempty"`
	Action string `json:"action,omitempty" jsonschema:"instead: back, forward or reload" oneof:"back forward reload"`
	inPage
}

func (in navigateIn) opens() bool { return in.URL != "" }

func (s *Server) addNavigateTools() {
	add(s, mutates("browser_navigate", "Navigate", "Open a URL in the tab, or go through its history"), navigate)
}

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
