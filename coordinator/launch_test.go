package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

func launched(t *testing.T, endpoint string) {
	t.Helper()
	const clients = 10
	urls := make([]string, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			status, body := get(t, endpoint+"/json/version", nil)
			for status == http.StatusServiceUnavailable { // the browser takes longer than the rest of the hold
				status, body = get(t, endpoint+"/json/version", nil)
			}
			var version struct{ WebSocketDebuggerURL string }
			if err := json.Unmarshal([]byte(body), &version); err != nil {
				t.Errorf("HTTP %d: %s", status, body)
			}
			urls[i] = version.WebSocketDebuggerURL
		})
	}
	all.Wait()
	slices.Sort(urls)
	if urls = slices.Compact(urls); len(urls) != 1 || urls[0] == "" {
		t.Fatalf("%d clients at once had the browsers %q", clients, urls)
	}
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start  func(w *toolstest.Window, browser string) error // nil: there is no window
		own    bool
		reason string // is logged
	}{
		"no window": {nil, true, ""},
		"the window's": {func(w *toolstest.Window, browser string) error {
			w.Show(browser, vscodeipc.AccessFull)
			return nil
		}, false, ""},
		"the window refuses": {func(*toolstest.Window, string) error {
			return errors.New("there are several launch configurations")
		}, true, ""},
		"the window starts, in vain": {func(*toolstest.Window, string) error { return nil }, true,
			"its debug session has no browser"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, dir := toolstest.Folder(t, "shop"), t.TempDir()
			var w *toolstest.Window
			if c.start != nil {
				browser := toolstest.Browser(t)
				toolstest.Sit(t, browser.URL()).Browse(toolstest.ServeSample(t))
				w, dir = toolstest.OpenWindowAt(t, folder, ""), toolstest.Dir
				w.Handle(vscodeipc.CommandDebugStart, func(vscodeipc.Call) (any, error) {
					return vscodeipc.DebugStartResult{Session: "s", Name: "Launch"}, c.start(w, browser.URL())
				})
			}
			hold := "30s"
			if c.reason == "its debug session has no browser" { // two thirds of the hold are waited for it
				hold = "6s"
			}
			serving := start(t, dir, "serve", "--launch", "--hold", hold, "--workspace", folder)
			launched(t, serving.first)
			// A client that requests an action may run it: no user could be asked.
			if got := titles(t, serving.first); len(got) == 0 || slices.Contains(got, "Sample") == c.own {
				t.Errorf("the pages are %q", got)
			}
			if w != nil {
				if n := len(w.Calls(vscodeipc.CommandDebugStart)); n != 1 {
					t.Errorf("debugging was started %d times", n)
				}
			}
			if serving.stop(t); !strings.Contains(serving.stderr.String(), c.reason) {
				t.Errorf("the log lacks %q: %s", c.reason, serving.stderr)
			}
		})
	}
}

func TestLaunchFails(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), "")
	w.Handle(vscodeipc.CommandDebugStart, func(vscodeipc.Call) (any, error) {
		return nil, errors.New("there is no launch configuration")
	})
	serving := start(t, toolstest.Dir, "serve", "--launch", "--hold", "1h", "--executable", "/bin/false", "--workspace",
		w.Folder)
	for _, headers := range []http.Header{
		{"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Purpose": {"prefetch"}},
		{"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Purpose": {"prefetch;prerender"}},
		{"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}},
	} {
		for _, path := range []string{"/", "/json/version", "/json/list", "/json/activate/1"} {
			get(t, serving.first+path, headers)
		}
	}
	if n := len(w.Calls(vscodeipc.CommandDebugStart)); n != 0 {
		t.Errorf("pages have started the launch configuration %d times", n)
	}
	for range 20 { // only the first of them triggers a launch
		if status, body := get(t, serving.first+"/json/version", nil); status != http.StatusServiceUnavailable ||
			!strings.Contains(body, "None could be launched: ") || !strings.Contains(body, "/bin/false") {
			t.Errorf("HTTP %d: %s", status, body)
		}
	}
	serving.stop(t)
	if n := strings.Count(serving.stderr.String(), "no browser could be launched"); n < 1 || n > 2 {
		t.Errorf("tried %d times:\n%s", n, serving.stderr)
	}
}
