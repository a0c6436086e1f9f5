package tools

import (
	"context"
	"errors"
	"fmt"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/export"
	"browser-coordinator/policy"
)

type tabsIn struct {
	Action string `json:"action" oneof:"list new close select"`
	Index  *int   `json:"index,omitempty"`
	URL    string `json:"url,omitempty"`
	Front  bool   `json:"front,omitempty" about:"also show it to the user"`
	inWindow
}

var _ = define(definition[tabsIn]{
	Name: "browser_tabs", Title: "Tabs", Description: "List tabs, open one and work in it, close one of yours, or " +
		"select where you work",
	Effect:     Acts,
	ReadOnlyIf: func(in tabsIn) bool { return in.Action == "list" },
	ReadOnly:   "to `list`",
	Question:   func(in tabsIn, _ []string) string { return in.sentence() },
	Subject:    func(in tabsIn, _ string) string { return in.sentence() },
	Do:         tabs,
	// A tab is opened when the first call works in it.
	Code: func(in tabsIn, _ *agent.Done) export.Step {
		if in.Action == "close" {
			return export.Step{Comment: "The agent closed a tab here."}
		}
		return export.Step{}
	},
	Shell: []command{
		{Name: "tabs", About: "List the tabs", Given: `{"action": "list"}`, Without: "index url front"},
		{Name: "tab", About: "Select the tab in which you work", Args: "index", Given: `{"action": "select"}`,
			Without: "url"},
		{Name: "tab new", About: "Open a tab, and work in it", Args: "[url]", Given: `{"action": "new"}`,
			Without: "index"},
		{Name: "tab close", About: "Close a tab that you have opened", Args: "[index]",
			Given: `{"action": "close"}`, Without: "url front"},
	},
	Replaces: map[string]string{"browser_close": "with action close"},
	Returns:  "the tabs, in the order in which they opened; of `new` also the beginning of its page",
	Notes: "Only `front` brings a tab to the front. A session closes only tabs that it, or an action of it, has " +
		"opened.",
	Data:    "`tabs`: `index`, `title`, `url`, `current`, `yours`",
	Example: `{"action": "list"}`,
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
	if err != nil {
		return err
	}
	if err := doTabs(ctx, c, t, in); err != nil {
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
		chosen, err := tabAt(t, in.Index, true)
		if err == nil {
			err = t.Close(ctx, chosen)
		}
		if err != nil {
			return err
		}
		c.Out.Quotef("Closed the tab %q.", chosen.Title)
		return nil
	case "select":
		chosen, err := tabAt(t, in.Index, false)
		if err == nil {
			err = t.Select(ctx, chosen)
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
