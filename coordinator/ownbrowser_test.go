package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// profilesIn makes the browsers of this test keep their private profiles in a folder of
// their own. list returns the profiles that exist.
func profilesIn(t *testing.T) (dir string, list func() []string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "bc-") // short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return dir, func() []string {
		found, err := filepath.Glob(filepath.Join(dir, "browser-coordinator-profile-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
}

// A window that opens before any action in the coordinator's own browser replaces that
// browser, which ends.
func TestWindowAppears(t *testing.T) {
	_, profiles := profilesIn(t)
	dir, shop := t.TempDir(), folder(t, "shop")
	url := servePage(t)
	agent := host(t, dir, shop)
	if text := mustTool(t, agent, "browser_snapshot", nil); !strings.Contains(text, "a browser of its own") {
		t.Errorf("without a window: %s", text)
	}
	own := profiles()
	if len(own) != 1 {
		t.Fatalf("profiles %q", own)
	}
	start(t, dir, "window", "--workspace", shop, "--headless", "--url", url)
	mustTool(t, agent, "browser_wait_for", map[string]any{"url": url})
	if text := mustTool(t, agent, "browser_snapshot", nil); !strings.Contains(text, "URL: "+url) {
		t.Errorf("with a window: %s", text)
	}
	if now := profiles(); len(now) != 1 || now[0] == own[0] {
		t.Errorf("the browser of its own has left %q of %q", now, own)
	}
}

// After an action in its own browser, the agent stays there and is notified once.
func TestWindowAppearsTooLate(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	url := servePage(t)
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url + "/own"})
	start(t, dir, "window", "--workspace", shop, "--headless", "--url", url+"/window")
	text := mustTool(t, agent, "browser_snapshot", nil)
	if !strings.Contains(text, url+"/own") || !strings.Contains(text, "fits this workspace now") {
		t.Errorf("after the window has opened: %s", text)
	}
	if text := mustTool(t, agent, "browser_snapshot", nil); strings.Contains(text, "fits this workspace now") {
		t.Errorf("told twice: %s", text)
	}
	mustTool(t, agent, "browser_wait_for", map[string]any{"window": shop, "url": "/window"})
	if text := mustTool(t, agent, "browser_snapshot", map[string]any{"window": shop}); !strings.Contains(text, url+"/window") {
		t.Errorf("the window by name: %s", text)
	}
}

// --attach uses a running browser, whoever started it, and leaves it running.
func TestAttach(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	url := servePage(t)
	start(t, dir, "window", "--workspace", shop, "--headless", "--url", url)
	running := browserOf(t, dir)
	session := func() string {
		agent := host(t, t.TempDir(), folder(t, "elsewhere"), "--attach", running)
		defer agent.Close()
		if text := mustTool(t, agent, "window_list", nil); !strings.Contains(text, strings.Join(strings.SplitN(running, "/", 4)[:3], "/")) {
			t.Errorf("window_list: %s", text)
		}
		if _, err := tool(t, agent, "browser_tabs", map[string]any{"action": "close"}); err == nil {
			t.Error("a tab of somebody else's browser was closed")
		}
		mustTool(t, agent, "browser_wait_for", map[string]any{"url": url}) // it may still be on its way
		return mustTool(t, agent, "browser_snapshot", nil)
	}
	for range 2 { // the browser outlives the first
		if text := session(); !strings.Contains(text, "URL: "+url) || strings.Contains(text, "of its own") {
			t.Errorf("attached: %s", text)
		}
	}
	agent := host(t, t.TempDir(), folder(t, "elsewhere"), "--attach", "http://127.0.0.1:1")
	if _, err := tool(t, agent, "browser_snapshot", nil); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("nobody there: %v", err)
	}
}

// The flags of the coordinator's own browser: size, proxy and profile.
func TestOwnBrowserFlags(t *testing.T) {
	profilesIn(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/set" {
			w.Header().Set("Set-Cookie", "login=ada; Max-Age=3600")
		}
		io.WriteString(w, "<title>"+r.Header.Get("Cookie")+"</title>")
	}))
	t.Cleanup(server.Close)
	proxied := make(chan string, 100)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied <- r.URL.String()
		io.WriteString(w, "<title>by proxy</title>")
	}))
	t.Cleanup(proxy.Close)
	profile := filepath.Join(t.TempDir(), "profile")

	agent := host(t, t.TempDir(), folder(t, "shop"), "--viewport", "800x600", "--profile", profile, "--proxy-server", proxy.URL)
	if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": "http://shop.example/"}); !strings.Contains(text, "by proxy") {
		t.Errorf("through the proxy: %s", text)
	}
	for asked := ""; asked != "http://shop.example/"; { // the browser sends requests of its own
		select {
		case asked = <-proxied:
		default:
			t.Fatal("the proxy was not asked for the page")
		}
	}
	if size := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => [innerWidth, innerHeight].join()"}); size != `"800,600"` {
		t.Errorf("the page is %s", size)
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL + "/set"}) // loopback goes past the proxy

	second := host(t, t.TempDir(), folder(t, "shop"), "--profile", profile)
	if _, err := tool(t, second, "browser_snapshot", nil); err == nil || !strings.Contains(err.Error(), "in use by another coordinator") {
		t.Errorf("two coordinators on one profile: %v", err)
	}
	agent.Close()
	// The login persists in the profile, and in a copy of it.
	for _, args := range [][]string{{"--profile", profile}, {"--profile", profile, "--isolated"}} {
		next := host(t, t.TempDir(), folder(t, "shop"), args...)
		if text := mustTool(t, next, "browser_navigate", map[string]any{"url": server.URL}); !strings.Contains(text, "login=ada") {
			t.Errorf("%v: %s", args, text)
		}
		defer next.Close()
	}
}

// A coordinator that is killed leaves no browser and no profile.
func TestKilledCoordinatorLeavesNothing(t *testing.T) {
	temp, profiles := profilesIn(t)
	cmd := command(t.Context(), t, t.TempDir(), "mcp")
	cmd.Dir = folder(t, "shop")
	client := mcp.NewClient(&mcp.Implementation{Name: "test-host", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	mustTool(t, session, "browser_snapshot", nil)
	own := profiles()
	if len(own) != 1 {
		t.Fatalf("profiles %q", own)
	}
	browser, err := os.Readlink(filepath.Join(own[0], "SingletonLock"))
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	if err := watcher.Add(temp); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(15 * time.Second)
	for len(profiles()) > 0 {
		select {
		case <-watcher.Events:
		case <-deadline:
			t.Fatalf("%q stays", profiles())
		}
	}
	pid := browser[strings.LastIndexByte(browser, '-')+1:]
	if out, err := exec.Command("ps", "-o", "args=", "-p", pid).Output(); err == nil && strings.Contains(string(out), own[0]) {
		t.Errorf("the browser %s runs on: %s", pid, out)
	}
}

// A profile is usable as soon as its coordinator was killed: its browser ends a moment
// later.
func TestProfileOfKilled(t *testing.T) {
	dir, shop, profile := t.TempDir(), folder(t, "shop"), filepath.Join(t.TempDir(), "profile")
	cmd := command(t.Context(), t, dir, "mcp", "--profile", profile)
	cmd.Dir = shop
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test-host", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	mustTool(t, session, "browser_snapshot", nil)
	again := host(t, dir, shop, "--profile", profile)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.Process.Wait(); err != nil {
		t.Log(err) // the session also waits for it
	}
	mustTool(t, again, "browser_snapshot", nil)
}

// The first result reports that the browser is the coordinator's own, even if the result
// is an error.
func TestOwnBrowserToldWithError(t *testing.T) {
	agent := host(t, t.TempDir(), folder(t, "shop"))
	if _, err := tool(t, agent, "browser_click", map[string]any{"target": "e99"}); err == nil || !strings.Contains(err.Error(), "e99") || !strings.Contains(err.Error(), "a browser of its own") {
		t.Errorf("the first answer: %v", err)
	}
	if text := mustTool(t, agent, "browser_snapshot", nil); strings.Contains(text, "a browser of its own") {
		t.Errorf("told twice: %s", text)
	}
}
