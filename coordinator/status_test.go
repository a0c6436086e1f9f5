package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/status"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// awaitStatus returns the first `status --json` that fits: what clients do is reported a
// moment later.
func awaitStatus(t *testing.T, dir string, fits func(status.Report) bool) status.Report {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; {
		text := output(t, dir, "status", "--json")
		var r status.Report
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if fits(r) {
			return r
		}
		if time.Now().After(limit) {
			t.Fatalf("the status stays\n%s", text)
		}
	}
}

// busy returns the client of that name, if this is what it did last.
func busy(clients []status.Client, name, did string) *status.Client {
	index := slices.IndexFunc(clients, func(c status.Client) bool {
		return c.Name == name && c.Last != nil && c.Last.Text == did
	})
	if index < 0 {
		return nil
	}
	return &clients[index]
}

// An agent and a CDP client are listed with what they did last, but not what they typed.
func TestStatus(t *testing.T) {
	t.Parallel()
	const secret, typed = "correct horse", `browser_type textbox "Name"`
	dir, shop := t.TempDir(), t.TempDir()
	w := openWindow(t, dir, shop)
	agent := host(t, dir, shop)
	agent.Must("browser_navigate", args{"url": "data:text/html,<label>Name <input></label>"})
	agent.Must("browser_type", args{"target": "input", "text": secret})
	client := joinPage(t, w.first, "Playwright/1.65.1 (x64)")
	client.must("Runtime.evaluate", `{"expression":"'`+secret+`'"}`)

	r := awaitStatus(t, dir, func(r status.Report) bool {
		return len(r.Windows) == 1 && busy(r.Windows[0].Clients, toolstest.Host.Name, typed) != nil &&
			busy(r.Windows[0].Clients, "Playwright", "Runtime.evaluate") != nil
	})
	if got := r.Windows[0]; *got.Workspace != canonical(t, shop) || got.Kind != "terminal" ||
		got.Browser == nil || got.Access != "full" || got.ClientsUnknown != "" ||
		!got.Endpoint.Served || got.Endpoint.PID != w.cmd.Process.Pid ||
		got.Endpoint.Program != "coordinator window" || len(got.Clients) != 2 {
		t.Errorf("the window: %+v", got)
	}
	if got := busy(r.Windows[0].Clients, toolstest.Host.Name, typed); got.Kind != "mcp" || got.Page == "" ||
		time.Since(got.Last.Time) > time.Minute {
		t.Errorf("the agent: %+v, %+v", got, got.Last)
	}
	if got := busy(r.Windows[0].Clients, "Playwright", "Runtime.evaluate"); got.Kind != "cdp" || got.Version != "1.65.1" {
		t.Errorf("the CDP client: %+v, %+v", got, got.Last)
	}

	got := output(t, dir, "__complete", "log", "--workspace", shop, "--client", "")
	if !strings.HasPrefix(got, "Playwright\t1.65.1\n") {
		t.Errorf("`log --client` completes to %q", got)
	}

	text := output(t, dir, "status")
	for _, want := range []string{
		canonical(t, shop) + " (terminal, process ", "access    full", "served by coordinator window",
		"ago: " + typed, "Playwright 1.65.1", "ago: Runtime.evaluate",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	_, page := get(t, w.first+"/", http.Header{})
	if !strings.Contains(page, "Clients: 1, ") {
		t.Errorf("the endpoint's text: %s", page)
	}
	for name, display := range map[string]string{
		"status": text, "status --json": output(t, dir, "status", "--json"), "the page": page,
	} {
		if strings.Contains(display, secret) {
			t.Errorf("%s shows what was typed:\n%s", name, display)
		}
	}
}

// An endpoint that is served without a window is listed, with who waits for its browser.
func TestStatusWithoutWindow(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	s := start(t, dir, "serve", "--launch", "--workspace", shop)
	r := awaitStatus(t, dir, func(r status.Report) bool { return len(r.Endpoints) == 1 })
	if got := r.Endpoints[0]; *got.Workspace != canonical(t, shop) || got.Browser != nil ||
		got.Endpoint.Program != "coordinator serve" || len(r.Windows) != 0 {
		t.Errorf("without a browser: %+v", r)
	}
	c := joinAt(t, strings.Replace(s.first, "http://", "ws://", 1)+"/devtools/browser/x", "Playwright/1.65.1")
	c.must("Target.createTarget", openTab)
	r = awaitStatus(t, dir, func(r status.Report) bool {
		return len(r.Endpoints) == 1 && busy(r.Endpoints[0].Clients, "Playwright", "Target.createTarget") != nil
	})
	if got := r.Endpoints[0]; got.Browser == nil || got.Browser.Via != "launched" ||
		!strings.Contains(got.Browser.Product, "Chrom") || got.Access != "full" {
		t.Errorf("with a client: %+v", got)
	}
	if text := output(t, dir, "status"); !strings.Contains(text, canonical(t, shop)+" (no window)") {
		t.Errorf("%s", text)
	}
}

// Agents that no window lists are shown with their browsers, also several in one folder. One
// that is killed leaves a socket, which the next one removes.
func TestStatusOfAgentsWithoutWindow(t *testing.T) {
	t.Parallel()
	const secret = "correct horse"
	dir, shop := t.TempDir(), t.TempDir()
	other := toolstest.OwnBrowser(t, "about:blank")
	first, attached := host(t, dir, shop), host(t, dir, shop, "--attach", other.URL())
	first.Must("browser_navigate", args{"url": "data:text/html,<input aria-label=Name>"})
	first.Must("browser_type", args{"target": "input", "text": secret})
	attached.Must("browser_tabs", args{"action": "list"})
	r := awaitStatus(t, dir, func(r status.Report) bool { return len(r.Agents) == 2 })
	for i, want := range []struct{ via, last string }{
		{"launched", `browser_type textbox "Name"`},
		{"attached", "browser_tabs List the tabs"},
	} {
		got := r.Agents[i]
		if got.PID == 0 || got.Workspace != canonical(t, shop) ||
			got.Name != toolstest.Host.Name || got.Version != toolstest.Host.Version ||
			got.Browser == nil || got.Browser.Via != want.via || !strings.Contains(got.Browser.Product, "Chrom") ||
			got.Last == nil || got.Last.Text != want.last || time.Since(got.Since) > time.Minute {
			t.Errorf("agent %d: %+v, %+v, last %+v", i, got, got.Browser, got.Last)
		}
	}
	text := output(t, dir, "status")
	if !strings.Contains(text, "Agents without a window\n") || strings.Contains(text, secret) {
		t.Errorf("%s", text)
	}

	sockets := func() []string {
		paths, err := filepath.Glob(filepath.Join(dir, "state", "browser-coordinator-mcp", "agent-*.sock"))
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	kill := func(pid int) {
		process, err := os.FindProcess(pid)
		if err != nil {
			t.Fatal(err)
		}
		process.Kill()
	}
	kill(r.Agents[0].PID)
	awaitStatus(t, dir, func(r status.Report) bool { return len(r.Agents) == 1 })
	kill(r.Agents[1].PID)
	awaitStatus(t, dir, func(r status.Report) bool { return len(r.Agents) == 0 })
	last := host(t, dir, shop)
	last.Must("browser_tabs", args{"action": "list"})
	must.Await(t, "the sockets of killed agents are deleted", func() bool { return len(sockets()) == 1 })

	// Once a window opens, the agent moves there, and the window lists it.
	openWindow(t, dir, shop)
	awaitStatus(t, dir, func(r status.Report) bool {
		return len(r.Agents) == 0 && len(r.Windows) == 1 && len(r.Windows[0].Clients) == 1
	})
}

func canonical(t *testing.T, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}
