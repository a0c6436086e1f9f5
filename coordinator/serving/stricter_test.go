package serving_test

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/serving"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/pagetest"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

func TestMain(m *testing.M) { os.Exit(toolstest.Main(withBrowsers{m})) }

// withBrowsers ends the browsers of cdptest.
type withBrowsers struct{ *testing.M }

func (m withBrowsers) Run() int { return cdptest.Main(m.M) }

// TestNothingOfClientsGoesOn: when the user chooses a stricter mode, or stops a client, its
// connection ends with a reason, and with it everything that it has set up in the browser.
// This holds for each kind of browser; TestNothingOfClientsGoesOnInSharedSessions has the
// virtual one.
func TestNothingOfClientsGoesOn(t *testing.T) {
	for kind, browser := range map[string]func(*testing.T) string{
		"a port": func(t *testing.T) string { return cdptest.BrowserURL(t) },
		"a pipe": func(t *testing.T) string { return toolstest.Browser(t).URL() },
		"a provider": func(t *testing.T) string {
			url, err := pagetest.Attached(t, cdptest.BrowserURL(t)).Browser(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return url
		},
	} {
		t.Run(kind, func(t *testing.T) {
			url := browser(t)
			window := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), url)
			windows := registry.Open(t.Context(), registry.Options{})
			t.Cleanup(func() { windows.Close() })
			e, err := serving.Serve(t.Context(), window.Folder, windows.Source(window.Folder),
				&serving.Options{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Close)
			endpoint := "ws" + strings.TrimPrefix(e.URL(), "http") + "/devtools/browser/any"

			user := cdptest.Dial(t, url)
			var page struct{ TargetID string }
			user.Call("", "Target.createTarget", `{"url":"about:blank"}`, &page)
			defer user.Try("", "Target.closeTarget", fmt.Sprintf(`{"targetId":%q}`, page.TargetID))
			leftovers := cdptest.NewLeftovers(t, user, page.TargetID)
			join := func() *cdptest.Client { t.Helper(); return cdptest.DialAs(t, endpoint, "Tool/1") }
			setUp := func() {
				t.Helper()
				c := join()
				leftovers.SetUp(c, c.Attach(page.TargetID))
			}
			for _, step := range []struct {
				mode    vscodeipc.AccessMode
				stopped []string
				reason  string
			}{
				{vscodeipc.AccessAsk, nil, "stricter access mode"},
				{vscodeipc.AccessView, nil, "stricter access mode"},
				{vscodeipc.AccessFull, []string{"Tool"}, "stopped by the user"},
			} {
				window.Allow(vscodeipc.AccessFull)
				// The window's choice comes to the endpoint asynchronously.
				for c := join(); c.Try("", "Target.setDiscoverTargets", `{"discover":true}`).Error != nil; c = join() {
				}
				setUp()
				window.Allow(step.mode, step.stopped...)
				if reason := leftovers.Closed(); !strings.Contains(reason, step.reason) {
					t.Errorf("%s %v: closed with %q, want %q", step.mode, step.stopped, reason, step.reason)
				}
				leftovers.AwaitRemoval()
				if step.stopped == nil {
					join().Call("", "Target.getTargets", "", nil) // it may join again
				}
			}
		})
	}
}
