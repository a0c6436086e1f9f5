package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/policy"
)

// CheckOrigin refuses an address, as a browser has parsed it, outside the agent's
// origins.
func (a *Agent) CheckOrigin(url string) error {
	return originError(url, a.Origins.Decide(url))
}

// CheckTyped is CheckOrigin for an address that no browser has parsed yet. MayShow checks
// the address of a file.
func (a *Agent) CheckTyped(url string) error {
	if address.OfFile(url) != "" {
		return nil
	}
	return originError(url, a.Origins.DecideTyped(url))
}

func originError(url string, d policy.Decision) error {
	if d.Outcome == policy.Allow {
		return nil
	}
	return &guard.LimitError{Text: url + " is not allowed: " + d.Denied.Reason}
}

// MayShow refuses an address that would end the browser. It also refuses a file that the
// agent may not read: one that it could not read itself, and that is outside the folders
// of the page's window.
func (a *Agent) MayShow(ctx context.Context, folders []string, url string) error {
	if err := policy.CheckAddress(url); err != nil {
		return &guard.LimitError{Text: err.Error()}
	}
	url = address.OfFile(url)
	if url == "" {
		return nil
	}
	file, ok := FilePath(url)
	if !ok {
		return fmt.Errorf("%s is no file's address", url)
	}
	_, err := a.AllowedFile(ctx, file, folders...)
	return err
}

// hideTitles hides the titles of tabs that show what the agent may not read. Every list of tabs
// for an agent passes through here. It asks the host for nothing that the call has not asked it
// for.
func (a *Agent) hideTitles(tabs []page.Info, folders []string) []page.Info {
	tabs = slices.Clone(tabs)
	for i, tab := range tabs {
		if a.CheckOrigin(tab.URL) != nil || a.MayShow(context.Background(), folders, tab.URL) != nil {
			tabs[i].Title = "(out of bounds)"
		}
	}
	return tabs
}

// hideTitlesIn is hideTitles for the tabs in a change.
func (a *Agent) hideTitlesIn(change page.Change, folders []string) page.Change {
	change.Tabs.Open = a.hideTitles(change.Tabs.Open, folders)
	change.Late.Tabs.Open = a.hideTitles(change.Late.Tabs.Open, folders)
	return change
}

// listTabs lists the tabs of a browser.
func (a *Agent) listTabs(ctx context.Context, in *connection) ([]page.Info, error) {
	tabs, err := in.browser.Pages(ctx)
	return a.hideTitles(tabs, in.folders), err
}

// mayRead refuses a page if one of its frames shows what the agent may not read.
func (a *Agent) mayRead(ctx context.Context, p *page.Page) error {
	addresses := p.Addresses()
	err := a.CheckOrigin(addresses[0])
	for _, url := range addresses {
		if err == nil {
			err = a.MayShow(ctx, p.Folders(), url)
		}
	}
	if err != nil {
		return fmt.Errorf("this tab is out of bounds: %w. Navigate or reload it, or choose another", err)
	}
	return nil
}

// MayFilm reports whether a video may show a page whose main frame has that address; empty: the one
// that the page itself knows of. It asks the host for nothing.
func (a *Agent) MayFilm(p *page.Page, address string) bool {
	ctx := context.Background()
	return a.mayRead(ctx, p) == nil &&
		(address == "" || a.CheckOrigin(address) == nil && a.MayShow(ctx, p.Folders(), address) == nil)
}

// Bind limits a page to the allowed origins, where some are configured, and to the
// allowed files where the page could request any file. A server's page cannot request
// files and must not be slowed down by the check. The page is about to open that,
// unless that is empty.
func (a *Agent) Bind(ctx context.Context, p *page.Page, url string) error {
	var bounds guard.Bounds
	if a.Origins != nil {
		bounds.Open = a.CheckOrigin
		p.LimitFrames(a.CheckOrigin)
	}
	current := p.URL()
	server := strings.HasPrefix(current, "http://") || strings.HasPrefix(current, "https://")
	if address.OfFile(url) != "" || address.OfFile(current) != "" || !server && p.Opened() {
		bounds.File = func(url string) error {
			return a.MayShow(context.WithoutCancel(ctx), p.Folders(), url)
		}
	}
	if bounds.Open == nil && bounds.File == nil {
		return nil
	}
	return p.Guard().Limit(ctx, bounds)
}
