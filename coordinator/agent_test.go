package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"browser-coordinator/coordinator/status"
	"browser-coordinator/internal/toolstest"
)

// The main job: an agent in a workspace's folder drives that window's browser, and
// another client sees the same page at the stable address.
func TestAgentDrivesItsWindow(t *testing.T) {
	t.Parallel()
	dir, shop, other := t.TempDir(), toolstest.Folder(t, "shop"), toolstest.Folder(t, "other")
	url := toolstest.ServeSample(t)
	shopWindow, otherWindow := openWindow(t, dir, shop), openWindow(t, dir, other)
	if shopWindow.first == otherWindow.first {
		t.Fatalf("both windows have the endpoint %s", shopWindow.first)
	}
	agent := host(t, dir, filepath.Join(shop, "src"), "--no-launch")
	list := agent.Expect("window_list", nil, shopWindow.first)
	if !regexp.MustCompile(`(?m)^\* .*shop `).MatchString(list) ||
		!regexp.MustCompile(`(?m)^- .*other `).MatchString(list) {
		t.Errorf("window_list does not show which window is selected:\n%s", list)
	}
	agent.Expect("browser_navigate", args{"url": url}, "Sample")
	snapshot := agent.Must("browser_snapshot", nil)
	agent.Must("browser_type", args{"target": toolstest.Ref(t, snapshot, "textbox", "Name"), "text": "Ada"})
	agent.Must("browser_click", args{"target": toolstest.Ref(t, snapshot, "button", "Greet")})
	agent.ExpectValue("() => document.title", `"Hello Ada"`)
	agent.Expect("browser_console_messages", nil, "greeted Ada")
	agent.Must("browser_take_screenshot", args{"filename": "src/shot.png"})

	if got := titles(t, shopWindow.first); len(got) != 1 || got[0] != "Hello Ada" {
		t.Errorf("at the endpoint of the window: pages %q", got)
	}
	if got := titles(t, otherWindow.first); len(got) != 1 || got[0] == "Hello Ada" {
		t.Errorf("at the endpoint of the other window: pages %q", got)
	}
	agent.Expect("browser_evaluate", args{"function": "() => location.href", "window": other}, `"about:blank"`)

	// When the window ends, the agent is told, and no other window is selected.
	shopWindow.stop(t)
	agent.Refused("browser_snapshot", nil, "has closed")
	agent.Refused("browser_snapshot", nil, "no window fits")
	// When the window is back, the next call finds it at the same endpoint.
	again := openWindow(t, dir, shop)
	if again.first != shopWindow.first {
		t.Errorf("the endpoint moved from %s to %s", shopWindow.first, again.first)
	}
	agent.ExpectValue("() => location.href", `"about:blank"`)
	if got := titles(t, again.first); len(got) != 1 {
		t.Errorf("at the endpoint after a restart: pages %q", got)
	}
}

// The flags of `mcp` reach the tools.
func TestFlagsOfAgents(t *testing.T) {
	t.Parallel()
	dir, shop, url := t.TempDir(), toolstest.Folder(t, "shop"), toolstest.ServeSample(t)
	window := openWindow(t, dir, shop)
	out, secrets := t.TempDir(), filepath.Join(t.TempDir(), "secrets.env")
	if err := os.WriteFile(secrets, []byte("WORD=Sample\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := host(t, dir, t.TempDir(), "--no-launch", "--workspace", shop, "--output-dir", out, "--secrets", secrets,
		"--allowed-origins", url+";http://other.example", "--blocked-origins", "http://blocked.example", "--caps",
		"network,storage")
	agent.Expect("browser_navigate", args{"url": url}, "<secret>WORD</secret>")
	agent.Refused("browser_navigate", args{"url": "http://127.0.0.1:1/"}, "--allowed-origins does not list it")
	agent.Expect("browser_snapshot", args{"filename": "page"}, filepath.Join(out, "page"))
	agent.Must("browser_cookie_list", nil)
	agent.Close()

	// Routes end when the coordinator is killed, although no process is left to remove them.
	cmd := command(t.Context(), t, dir, "mcp", "--caps", "network")
	cmd.Dir = shop
	killed := startHost(t, cmd)
	killed.Must("browser_route", args{"pattern": "**", "body": "mocked"})
	user := toolstest.Sit(t, window.first)
	const fetch = `fetch("/").then((r) => r.text(), () => "failed")`
	if got := user.Evaluate(fetch); got != `"mocked"` {
		t.Fatalf("%s", got)
	}
	killed.Must("browser_network_state_set", args{"state": "offline"})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.Close() // waits for its end
	if got := user.Evaluate(fetch); !strings.Contains(got, "Sample") {
		t.Errorf("something stayed behind: %s", got)
	}

	// --attach uses a running browser, whoever started it, and leaves it running.
	var windows struct {
		Windows []struct{ Browser struct{ URL string } }
	}
	if err := json.Unmarshal([]byte(output(t, dir, "status", "--json")), &windows); err != nil {
		t.Fatal(err)
	}
	browser := windows.Windows[0].Browser.URL
	for range 2 { // the browser outlives the first
		attached := host(t, t.TempDir(), t.TempDir(), "--attach", browser)
		attached.Expect("window_list", nil, strings.Join(strings.SplitN(browser, "/", 4)[:3], "/"))
		attached.Refused("browser_tabs", args{"action": "close"})
		if text := attached.Expect("browser_snapshot", nil, "URL: "+url); strings.Contains(text, "of its own") {
			t.Errorf("attached: %s", text)
		}
		attached.Close()
	}
	host(t, t.TempDir(), t.TempDir(), "--attach", "http://127.0.0.1:1").Refused("browser_snapshot", nil, "127.0.0.1:1")
	host(t, t.TempDir(), t.TempDir(), "--no-launch").Refused("browser_snapshot", nil, "no window is open")
}

func TestListedWindow(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), toolstest.Folder(t, "shop")
	w := openWindow(t, dir, shop)
	var list status.Report
	if err := json.Unmarshal([]byte(output(t, dir, "status", "--json")), &list); err != nil || len(list.Windows) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	got := list.Windows[0]
	if *got.Workspace != shop || got.Kind != "terminal" || got.Endpoint.URL != w.first || got.Session == "" ||
		got.PID != w.cmd.Process.Pid || got.Pages != 1 {
		t.Errorf("%+v", got)
	}
	if got.Browser.Via != "launched" || !strings.Contains(got.Browser.Product, "Chrom") ||
		!strings.HasPrefix(got.Browser.URL, "ws://127.0.0.1:") {
		t.Errorf("browser %+v", got.Browser)
	}
	if out := output(t, dir, "probe"); !strings.Contains(out, "\nlive") {
		t.Errorf("probe: %s", out)
	}
	var probed probeJSON
	out := output(t, dir, "probe", "--json")
	if err := json.Unmarshal([]byte(out), &probed); err != nil || len(probed.Sockets) != 1 {
		t.Fatalf("probe --json: %v\n%s", err, out)
	}
	if p := probed.Sockets[0]; p.Verdict != "live" || p.Reason == "" || p.Deleted || *p.Workspace != shop ||
		len(p.Folders) != 1 || p.PID != got.PID || p.Server == "" || *p.Browser != *got.Browser {
		t.Errorf("probe --json: %s", out)
	}
	if out := output(t, dir, "endpoint", "--workspace", shop); out != w.first {
		t.Errorf("endpoint: %q; want %s", out, w.first)
	}
}

// The flags of the coordinator's own browser: size, proxy and profile. Without any window
// the coordinator launches it, and ends it with the host's session.
func TestOwnBrowserFlags(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/set" {
			w.Header().Set("Set-Cookie", "login=ada; Max-Age=3600")
		}
		io.WriteString(w, "<title>"+r.Header.Get("Cookie")+"</title>")
	})
	proxied := make(chan string, 100)
	proxy := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		proxied <- r.URL.String()
		io.WriteString(w, "<title>by proxy</title>")
	})
	dir, profile := t.TempDir(), filepath.Join(t.TempDir(), "profile")
	agent := host(t, dir, t.TempDir(), "--viewport", "800x600", "--profile", profile, "--proxy-server", proxy)
	agent.Expect("browser_navigate", args{"url": "http://shop.example/"}, "by proxy", "own browser")
	for requested := ""; requested != "http://shop.example/"; { // the browser sends requests of its own
		select {
		case requested = <-proxied:
		default:
			t.Fatal("the proxy was not asked for the page")
		}
	}
	agent.ExpectValue("() => [innerWidth, innerHeight].join()", `"800,600"`)
	agent.Open(url + "/set") // loopback goes past the proxy
	host(t, dir, t.TempDir(), "--profile", profile).Refused("browser_snapshot", nil, "in use by another coordinator")
	agent.Close()
	// The login persists in the profile, and in a copy of it. A workspace without a window
	// gets such a browser too.
	copied := host(t, dir, t.TempDir(), "--profile", profile, "--isolated", "--workspace", t.TempDir())
	copied.Expect("browser_navigate", args{"url": url}, "login=ada")
	copied.Close()

	// A profile is usable as soon as its coordinator was killed: its browser ends a moment
	// later.
	cmd := command(t.Context(), t, dir, "mcp", "--profile", profile)
	cmd.Dir = t.TempDir()
	startHost(t, cmd).Expect("browser_navigate", args{"url": url}, "login=ada")
	second := host(t, dir, t.TempDir(), "--profile", profile)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.Process.Wait(); err != nil {
		t.Log(err) // the session also waits for it
	}
	second.Must("browser_snapshot", nil)
}

// A coordinator that is killed leaves no browser and no profile.
func TestKilledCoordinatorLeavesNothing(t *testing.T) {
	t.Parallel()
	temp, err := os.MkdirTemp("/tmp", "bc-") // short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	profiles := func() []string {
		found, err := filepath.Glob(filepath.Join(temp, "browser-coordinator-profile-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	cmd := command(t.Context(), t, t.TempDir(), "mcp")
	cmd.Dir, cmd.Env = t.TempDir(), append(cmd.Env, "TMPDIR="+temp)
	startHost(t, cmd).Must("browser_snapshot", nil)
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
	deadline := time.After(time.Minute)
	for len(profiles()) > 0 {
		select {
		case <-watcher.Events:
		case <-deadline:
			t.Fatalf("%q stays", profiles())
		}
	}
	pid := browser[strings.LastIndexByte(browser, '-')+1:]
	if out, err := exec.Command("ps", "-o", "args=", "-p", pid).Output(); err == nil &&
		strings.Contains(string(out), own[0]) {
		t.Errorf("the browser %s runs on: %s", pid, out)
	}
}

// An agent works even if its home folder is not writable, as in a container. The log
// reports once what is missing.
func TestHomeThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "below") // not even root makes a folder below a file
	shop, url := toolstest.Folder(t, "shop"), toolstest.ServeSample(t)
	agent := host(t, dir, shop)
	agent.Expect("browser_navigate", args{"url": url}, "Sample")
	agent.Expect("browser_snapshot", args{"filename": "page"}, agent.Saved("page"))
	if text := agent.Must("window_list", nil); strings.Contains(text, "Calls without `window` go to the browser at") {
		t.Errorf("an address that is not served: %s", text)
	}
	cmd := command(t.Context(), t, dir, "mcp", "--no-launch")
	cmd.Dir = shop
	out, err := cmd.CombinedOutput() // without input it ends at once
	if err != nil || strings.Count(string(out), "cannot make the folder "+filepath.Join(dir, "state")) != 1 ||
		!strings.Contains(string(out), "set XDG_STATE_HOME") {
		t.Errorf("the log: %v %s", err, out)
	}
}
