package window

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"browser-coordinator/coordinator/userchrome"
	"browser-coordinator/vscodeipc"
)

// Tabs are those of the user in the user's own browser.
type Tabs interface {
	Tabs(ctx context.Context) ([]userchrome.Tab, error)
	HandOver(ctx context.Context, id string) error
}

// ownTabs are those of the connection that has a CDP address.
type ownTabs struct{ url func() string }

func (o ownTabs) connection(ctx context.Context) (userchrome.Shared, error) {
	address := o.url()
	return userchrome.Connection(ctx, "the user's own browser", func(s userchrome.Shared) bool { return s.URL == address })
}

func (o ownTabs) Tabs(ctx context.Context) ([]userchrome.Tab, error) {
	c, err := o.connection(ctx)
	if err != nil {
		return nil, err
	}
	return c.Tabs(ctx)
}

func (o ownTabs) HandOver(ctx context.Context, id string) error {
	c, err := o.connection(ctx)
	if err != nil {
		return err
	}
	return c.HandOver(ctx, id)
}

// requestsTab reports whether a client asks for one of the user's tabs. The user is asked each
// time, in every mode.
func requestsTab(arg vscodeipc.AskArg) bool { return arg.Act == vscodeipc.CommandTabRequest }

// has reports whether it is one of the tabs that the user is shown.
func (q *question) has(tab string) bool {
	return slices.ContainsFunc(q.tabs, func(t userchrome.Tab) bool { return t.ID == tab })
}

// errTabUnasked is what a client gets where nobody can be asked for a tab.
var errTabUnasked = &vscodeipc.Error{Code: vscodeipc.CodeRefused, Message: "no terminal asks, and the page of " +
	"`coordinator show` is not open: ask the user to open it, or to run `coordinator hand-over`"}

// requestTab asks the user for a tab, and hands over the one that the user chooses.
func (q *questions) requestTab(ctx context.Context, arg vscodeipc.TabRequestArg) (any, error) {
	tabs, err := q.tabs.Tabs(ctx)
	if err != nil {
		return nil, err
	}
	detail, site := "use a tab that you choose", ""
	if u, err := url.Parse(arg.URL); err == nil && u.Host != "" {
		site = u.Host
		detail += ", if possible one of " + site
	}
	each := &question{
		arg:  vscodeipc.AskArg{Client: arg.Client, Act: vscodeipc.CommandTabRequest, Detail: detail},
		tabs: candidates(tabs, site),
	}
	if len(each.tabs) == 0 {
		return nil, errors.New("the user's own browser has no tab that could be handed over")
	}
	q.await(ctx, each)
	switch {
	case each.result == abandoned:
		return nil, ctx.Err()
	case each.result == unasked:
		return nil, errTabUnasked
	case each.result.Reason == "timeout":
		return vscodeipc.TabRequestResult{Outcome: "timeout"}, nil
	case each.result.Decision != "allow":
		return vscodeipc.TabRequestResult{Outcome: "refused"}, nil
	}
	if err := q.tabs.HandOver(ctx, each.tab); err != nil {
		return nil, err
	}
	return vscodeipc.TabRequestResult{Outcome: "handed-over", Tab: each.tab}, nil
}

// candidates are the tabs that a client could get, first those of the site that it wants, as in
// extension/src/core/browser/usertabs.ts.
func candidates(tabs []userchrome.Tab, site string) []userchrome.Tab {
	var first, rest []userchrome.Tab
	for _, t := range tabs {
		switch u, err := url.Parse(t.Origin); {
		case t.HandedOver:
		case err == nil && site != "" && u.Host == site:
			first = append(first, t)
		default:
			rest = append(rest, t)
		}
	}
	return append(first, rest...)
}

// tabsText is the list that the user chooses from on the terminal.
func (q *question) tabsText() string {
	var b strings.Builder
	for i, t := range q.tabs {
		fmt.Fprintf(&b, "%5d  %s\n", i+1, t.Line())
	}
	return b.String()
}

// chosen is the tab that a typed number means; empty: none.
func (q *question) chosen(line string) string {
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || n < 1 || n > len(q.tabs) {
		return ""
	}
	return q.tabs[n-1].ID
}
