package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/vscodeipc"
)

// chromium launches a browser for a window that the test itself serves.
func chromium(t *testing.T, url string) *chrome.Browser {
	t.Helper()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := chrome.Launch(t.Context(), chrome.Options{Executable: found.Path, Headless: true, URL: url, Args: []string{"--disable-gpu"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close(context.Background()) })
	return b
}

func show(t *testing.T, s *vscodeipc.Server, b *chrome.Browser) {
	t.Helper()
	state := vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}
	if b != nil {
		state.Browser = &vscodeipc.Browser{URL: b.URL(), Product: "Chromium", Via: "launched"}
	}
	if err := s.SetState(state); err != nil {
		t.Fatal(err)
	}
}

// A debug session that restarts ends its browser. A read-only call continues in the next
// browser. A mutating call is never executed twice.
func TestBrowserGoesAndComesBack(t *testing.T) {
	var sent atomic.Int32
	asked := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/order":
			sent.Add(1)
			asked <- struct{}{}
			<-r.Context().Done()
		case "/ready":
			asked <- struct{}{}
		case "/second":
			io.WriteString(w, "<title>Second</title>the second browser")
		default:
			io.WriteString(w, "<title>First</title><button onclick=\"fetch('/order')\">Order</button><script>fetch('/ready')</script>")
		}
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	window := bareWindow(t, dir, shop)
	first := chromium(t, server.URL)
	<-asked
	show(t, window, first)
	agent := host(t, dir, shop, "--no-launch")
	mustTool(t, agent, "browser_wait_for", map[string]any{"text": "Order"})

	// An action in progress: the agent gets an error, and the action does not run again.
	ordered := make(chan error, 1)
	go func() {
		_, err := tool(t, agent, "browser_evaluate", map[string]any{"function": "() => fetch('/order').then((r) => r.text())"})
		ordered <- err
	}()
	<-asked
	first.Close(t.Context())
	second := chromium(t, server.URL)
	<-asked
	show(t, window, second)
	if err := <-ordered; err == nil || !strings.Contains(err.Error(), "may have been done") {
		t.Errorf("an act while the browser ends: %v", err)
	}
	if n := sent.Load(); n != 1 {
		t.Errorf("the act was done %d times", n)
	}

	// A read-only call continues in the next browser.
	looked := make(chan error, 1)
	mustTool(t, agent, "browser_snapshot", nil)
	go func() {
		_, err := tool(t, agent, "browser_wait_for", map[string]any{"text": "the second browser", "time": 20})
		looked <- err
	}()
	third := chromium(t, server.URL+"/second")
	second.Close(t.Context())
	show(t, window, third)
	if err := <-looked; err != nil {
		t.Errorf("looking while the browser is replaced: %v", err)
	}

	// An action that was not sent is sent once, when the next browser is there.
	fourth := chromium(t, server.URL)
	<-asked
	third.Close(t.Context())
	clicked := make(chan error, 1)
	go func() {
		_, err := tool(t, agent, "browser_click", map[string]any{"target": "button"})
		clicked <- err
	}()
	show(t, window, fourth)
	if err := <-clicked; err != nil {
		t.Errorf("an act before the next browser is there: %v", err)
	}
	<-asked
	if n := sent.Load(); n != 2 {
		t.Errorf("the acts were done %d times", n)
	}

	// Without a next browser, the error names the next step.
	show(t, window, nil)
	_, err := tool(t, agent, "browser_snapshot", nil)
	for limit := time.Now().Add(10 * time.Second); err == nil && time.Now().Before(limit); {
		_, err = tool(t, agent, "browser_snapshot", nil) // the coordinator has not received the change yet
	}
	if err == nil || !strings.Contains(err.Error(), "F5") {
		t.Errorf("without a browser: %v", err)
	}
}

// Several windows fit equally well: the coordinator selects none and names both.
func TestSeveralWindows(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	bareWindow(t, dir, shop)
	agent := host(t, dir, shop)
	_, err := tool(t, agent, "browser_snapshot", nil)
	if err == nil || !strings.Contains(err.Error(), "several windows fit") || strings.Count(err.Error(), canonicalShop(t, shop)) < 2 || !strings.Contains(err.Error(), "ipc-") {
		t.Errorf("%v", err)
	}
	if list := mustTool(t, agent, "window_list", nil); !strings.Contains(list, "Several windows fit") {
		t.Errorf("window_list: %s", list)
	}
}
