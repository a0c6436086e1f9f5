package tools

import (
	"context"
	"errors"
	"fmt"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/policy"
)

type tabsIn struct {
	Action string `json:"action" oneof:"list new close select request"`
	Index  *int   `json:"index,omitempty"`
	URL    string `json:"url,omitempty"`
	Front  bool   `json:"front,omitempty" about:"also show it to the user"`
	inWindow
}

var _ = define(Tool{
	Name: "browser_tabs", Title: "Tabs", Description: "List tabs, open one and work in it, close one of yours, or " +
		"select where you work",
	Effect: Acts, Traits: agent.Traits{Tabless: true},
	ReadOnly: "to `list` and to `request`",
	Shell: []command{
		{Name: "tabs", Summary: "List the tabs", Arguments: `{"action": "list"}`, Omits: "index url front"},
		{Name: "tab", Summary: "Select the tab in which you work", Args: "index", Arguments: `{"action": "select"}`,
			Omits: "url"},
		{Name: "tab new", Summary: "Open a tab, and work in it", Args: "[url]", Arguments: `{"action": "new"}`,
			Omits: "index"},
		{Name: "tab request", Summary: "Ask the user for a tab in the user's own browser", Args: "[url]",
			Arguments: `{"action": "request"}`, Omits: "index front"},
		{Name: "tab close", Summary: "Close a tab that you have opened", Args: "[index]",
			Arguments: `{"action": "close"}`, Omits: "url front"},
	},
	Replaces: map[string]string{"browser_close": "with action close"},
	Returns:  "the tabs; of `new` also the beginning of its page",
	Notes: "In [the user's own browser](own-chrome.md) `request` asks the user to hand over a tab, if possible " +
		"one that shows `url`, and selects it.",
	Data:    "`tabs`: `index`, `title`, `url`, `current`, `yours`",
	Example: `{"action": "list"}`,
}, calls[tabsIn]{
	// The answer to a request is the user's permission.
	ReadOnlyIf: func(in tabsIn) bool { return in.Action == "list" || in.Action == "request" },
	Beyond: func(_ context.Context, p *page.Page, in tabsIn) bool {
		return in.Index != nil || in.Action == "new" && address.Origin(in.URL) != p.Site()
	},
	Question: func(in tabsIn, _ []string) string { return in.sentence() },
	Subject:  func(in tabsIn, _ string) string { return in.sentence() },
	Do:       tabs,
	// A tab is opened when the first call works in it.
	Code: func(in tabsIn, _ *agent.Record) export.Step {
		if in.Action == "close" {
			return export.Step{Comment: "The agent closed a tab here."}
		}
		return export.Step{}
	},
})

// sentence describes the call to the user.
func (in tabsIn) sentence() (sentence string) {
	tab := "its tab"
	if in.Index != nil {
		tab = fmt.Sprintf("tab %d", *in.Index)
	}
	switch in.Action {
	case "list":
		return "List the tabs"
	case "request":
		return "Ask for one of the user's tabs"
	case "close":
		return "Close " + tab
	case "new":
		sentence = "Open a tab"
	case "select":
		sentence = "Work in " + tab
	}
	if in.Front {
		sentence += ", in front of all others"
	}
	if in.URL != "" && in.Action == "new" {
		sentence += ": " + policy.Excerpt(in.URL, longestValues)
	}
	return sentence
}

// tabOut is one tab in the structured answer of browser_tabs.
type tabOut struct {
	Index   int    `json:"index"`
	Title   string `json:"title"`
	URL     string `json:"url"`
	Current bool   `json:"current"`
	Yours   bool   `json:"yours"`
}

// tabs does the requested action, and answers with the resulting list of tabs.
func tabs(ctx context.Context, c *agent.Call, in tabsIn) error {
	t, err := c.Tabs(ctx)
	if err == nil && in.Action == "list" {
		err = t.Choose(ctx)
	}
	if err == nil {
		err = doTabs(ctx, c, t, in)
	}
	if err != nil {
		return err
	}
	if t, err = c.Tabs(ctx); err != nil {
		return err
	}
	list := make([]tabOut, len(t.All))
	for i, p := range t.All {
		list[i] = tabOut{p.Index, p.Title, p.URL, p.ID == t.Current, t.Owned(p)}
	}
	c.Out.Set("tabs", list)
	return nil
}

func doTabs(ctx context.Context, c *agent.Call, t *agent.Tabs, in tabsIn) error {
	switch in.Action {
	case "request":
		if err := t.Request(ctx, in.URL); err != nil {
			return err
		}
		c.Out.Addf("The user handed over a tab; you work in it now.")
	case "new":
		change, err := t.Open(ctx, in.URL)
		if err != nil {
			return err
		}
		c.Out.Addf("Opened a tab; you work in it now.")
		change.Navigated = true
		c.Out.Changed(change)
		if in.URL != "" {
			t.Look(ctx)
		}
		if in.Front {
			return t.Front(ctx)
		}
		return nil
	case "close":
		choice, err := tabAt(t, in.Index, true)
		if err == nil {
			err = t.Close(ctx, choice)
		}
		if err != nil {
			return err
		}
		c.Out.Quotef("Closed the tab %q.", choice.Title)
		return nil
	case "select":
		choice, err := tabAt(t, in.Index, false)
		if err == nil {
			err = t.Select(ctx, choice)
		}
		if err == nil && in.Front {
			err = t.Front(ctx)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range t.All {
		mark := ""
		if p.ID == t.Current {
			mark = " (current)"
		}
		c.Out.Show(fmt.Sprintf("%d: %s %s%s", p.Index, p.Title, p.URL, mark), true)
	}
	if t.Personal() && in.Action == "list" {
		c.Out.Addf("This is the user's own browser: other tabs of theirs are not listed. Action request asks the user " +
			"for one.")
	}
	return nil
}

func tabAt(t *agent.Tabs, index *int, orCurrent bool) (page.Info, error) {
	if index == nil && !orCurrent {
		return page.Info{}, errors.New("select needs index, as browser_tabs lists it")
	}
	for _, p := range t.All {
		if index == nil && p.ID == t.Current || index != nil && p.Index == *index {
			return p, nil
		}
	}
	return page.Info{}, agent.NoTab(index, t.All)
}
