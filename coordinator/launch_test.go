package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
)

// browsersOf requests the browser from an endpoint, from many clients at once.
func browsersOf(t *testing.T, endpoint string, clients int) []string {
	t.Helper()
	seen := make([]string, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			res, err := http.Get(endpoint + "/json/version")
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			var version struct{ WebSocketDebuggerURL string }
			if err := json.NewDecoder(res.Body).Decode(&version); err != nil {
				t.Errorf("%s: %v", res.Status, err)
			}
			seen[i] = version.WebSocketDebuggerURL
		})
	}
	all.Wait()
	slices.Sort(seen)
	return slices.Compact(seen)
}

func TestLaunchOfOurOwn(t *testing.T) {
	dir, workspace := t.TempDir(), t.TempDir()
	serving := start(t, dir, "serve", "--launch", "--workspace", workspace)
	if seen := browsersOf(t, serving.first, 20); len(seen) != 1 || seen[0] == "" {
		t.Fatalf("20 clients at once had the browsers %q", seen)
	}
	// A client that requests an action may run it: no user could be asked.
	if got := titles(t, serving.first); len(got) == 0 {
		t.Error("the browser has no page")
	}
	serving.stop(t)
}

func TestLaunchOfTheWindow(t *testing.T) {
	dir := t.TempDir()
	e := openEditor(t, dir)
	if err := e.server.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}); err != nil { // nothing is debugged yet
		t.Fatal(err)
	}
	e.on(vscodeipc.CommandDebugStart, func(vscodeipc.Call) (any, error) {
		e.allow(vscodeipc.AccessFull)
		return vscodeipc.DebugStartResult{Session: "s", Name: "Launch"}, nil
	})
	serving := start(t, dir, "serve", "--launch", "--workspace", e.folder)
	if seen := browsersOf(t, serving.first, 20); len(seen) != 1 || seen[0] == "" {
		t.Fatalf("20 clients at once had the browsers %q", seen)
	}
	if got := titles(t, serving.first); !slices.Contains(got, "Sample") {
		t.Errorf("the pages are %q: not the window's browser", got)
	}
	if n := e.debuggingStarted(); n != 1 {
		t.Errorf("debugging was started %d times", n)
	}
}

// TestLaunchWhereTheWindowCannot: a window with no launch configuration for a browser,
// or with several, refuses. Then a browser of our own serves.
func TestLaunchWhereTheWindowCannot(t *testing.T) {
	dir := t.TempDir()
	e := openEditor(t, dir)
	if err := e.server.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}); err != nil {
		t.Fatal(err)
	}
	e.on(vscodeipc.CommandDebugStart, func(vscodeipc.Call) (any, error) {
		return nil, errors.New("there are several launch configurations for a browser: Shop, Shop (staging)")
	})
	serving := start(t, dir, "serve", "--launch", "--workspace", e.folder)
	if seen := browsersOf(t, serving.first, 20); len(seen) != 1 || seen[0] == "" {
		t.Fatalf("20 clients at once had the browsers %q", seen)
	}
	if got := titles(t, serving.first); len(got) == 0 || slices.Contains(got, "Sample") {
		t.Errorf("the pages are %q: not those of a browser of its own", got)
	}
	if n := e.debuggingStarted(); n != 1 {
		t.Errorf("the window was asked %d times", n)
	}
	serving.stop(t)
}

// TestLaunchFails: a client that waits for a browser gets the reason when the launch
// fails, and stops waiting.
func TestLaunchFails(t *testing.T) {
	serving := start(t, t.TempDir(), "serve", "--launch", "--hold", "1h", "--executable", "/bin/false", "--workspace", t.TempDir())
	client := http.Client{Timeout: time.Minute}
	for range 20 { // only the first of them triggers a launch
		res, err := client.Get(serving.first + "/json/version")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "None could be launched: ") || !strings.Contains(string(body), "/bin/false") {
			t.Errorf("HTTP %d: %s", res.StatusCode, body)
		}
	}
	serving.stop(t)
	if n := strings.Count(serving.stderr.String(), "no browser could be launched"); n < 1 || n > 2 {
		t.Errorf("tried %d times:\n%s", n, serving.stderr)
	}
}

// TestLaunchWhereNothingComes: the window reports that it debugs, but has no browser.
func TestLaunchWhereNothingComes(t *testing.T) {
	t.Setenv("TEST_WINDOW_TIMEOUT", "1s")
	dir := t.TempDir()
	e := openEditor(t, dir)
	if err := e.server.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}); err != nil {
		t.Fatal(err)
	}
	e.on(vscodeipc.CommandDebugStart, func(vscodeipc.Call) (any, error) {
		return vscodeipc.DebugStartResult{Session: "s", Name: "Launch"}, nil
	})
	serving := start(t, dir, "serve", "--launch", "--workspace", e.folder)
	if seen := browsersOf(t, serving.first, 5); len(seen) != 1 || seen[0] == "" {
		t.Fatalf("5 clients at once had the browsers %q", seen)
	}
	serving.stop(t)
	if !strings.Contains(serving.stderr.String(), "its debug session has no browser") {
		t.Errorf("nothing says why: %s", serving.stderr)
	}
}

// debuggingStarted counts the requests to the window to start debugging.
func (e *editor) debuggingStarted() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, c := range e.calls {
		if c.Command == vscodeipc.CommandDebugStart {
			n++
		}
	}
	return n
}

// TestLaunchByPages: no request of a page or an address bar starts anything in the
// window, and each gets its response at once. The headers are those that Chromium sends
// (TestPagesHaveNoEffect in cdpproxy).
func TestLaunchByPages(t *testing.T) {
	dir := t.TempDir()
	e := openEditor(t, dir)
	if err := e.server.SetState(vscodeipc.State{}); err != nil {
		t.Fatal(err)
	}
	e.on(vscodeipc.CommandDebugStart, func(vscodeipc.Call) (any, error) {
		return nil, errors.New("a page has started the launch configuration")
	})
	serving := start(t, dir, "serve", "--launch", "--hold", "1h", "--executable", "/bin/false", "--workspace", e.folder)
	for _, headers := range []http.Header{
		{"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Purpose": {"prefetch"}},
		{"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Purpose": {"prefetch;prerender"}},
		{"Sec-Fetch-Site": {"none"}, "Sec-Fetch-Mode": {"navigate"}},
	} {
		for _, path := range []string{"/", "/json/version", "/json/list", "/json/activate/1"} {
			req, err := http.NewRequest(http.MethodGet, serving.first+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = headers
			res, err := (&http.Client{Timeout: time.Minute}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
		}
	}
	serving.stop(t)
	if n := e.debuggingStarted(); n != 0 {
		t.Errorf("pages have started the launch configuration %d times", n)
	}
}
