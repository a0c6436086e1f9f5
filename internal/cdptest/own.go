package cdptest

import (
	"encoding/json"
	"log/slog"
	"testing"

	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/cdpproxy/private"
	"browser-coordinator/internal/must"
)

// ServeOwn serves a browser as its user's own one: clients reach the tabs that are handed over.
func ServeOwn(t testing.TB, browser string) (part *partial.Browser, url string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	whole := must.Get(multiplex.Serve(DialTransport(t, browser), log))(t)
	t.Cleanup(whole.Close)
	part = must.Get(partial.New(t.Context(), whole, log))(t)
	t.Cleanup(part.Close)
	served := must.Get(private.Serve(part, log))(t)
	t.Cleanup(served.Close)
	return part, served.URL()
}

// HandOverTab opens a tab as the user, and hands it over.
func HandOverTab(t testing.TB, user *Client, part *partial.Browser, url string) (id string) {
	t.Helper()
	var tab struct {
		ID string `json:"targetId"`
	}
	params := must.Get(json.Marshal(map[string]string{"url": url}))(t)
	user.Call("", "Target.createTarget", string(params), &tab)
	must.Await(t, "the tab is known", func() bool { return part.HandOver(tab.ID) == nil })
	return tab.ID
}
