package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/vscodeipc"
)

// A window that lies about its browser leads no client off this machine. It gets no
// credentials, and no redirect is followed, by the tools or by the CDP endpoint.
func TestLyingWindow(t *testing.T) {
	var dialed, authorized, redirected atomic.Int32
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dialed.Add(1)
		if r.Header.Get("Authorization") != "" {
			authorized.Add(1)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(liar.Close)
	elsewhere, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("this system has one loopback address only: %v", err)
	}
	target := &httptest.Server{Listener: elsewhere, Config: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { redirected.Add(1) })}}
	target.Start()
	t.Cleanup(target.Close)
	redirects := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirects.Close)

	defer func() {
		if a, r := authorized.Load(), redirected.Load(); a+r > 0 || dialed.Load() > 0 {
			t.Errorf("credentials were sent %d times, a redirect was followed %d times, an address with credentials was dialed %d times", a, r, dialed.Load())
		}
	}()

	// The window protocol forbids all of these addresses, so the window is not used.
	const unusable = "no window is open"
	for name, c := range map[string]struct{ url, want string }{
		"credentials":       {"ws://name:secret@" + liar.Listener.Addr().String() + "/devtools/browser/x", unusable},
		"HTTP credentials":  {"http://name:secret@" + liar.Listener.Addr().String(), unusable},
		"a redirect":        {"ws" + strings.TrimPrefix(redirects.URL, "http") + "/devtools/browser/x", "307"},
		"HTTP":              {redirects.URL, unusable},
		"another host":      {"ws://192.0.2.1:9222/devtools/browser/x", unusable},
		"another HTTP host": {"http://192.0.2.1:9222", unusable},
		"TLS":               {"wss://127.0.0.1:9222/devtools/browser/x", unusable},
	} {
		t.Run(name, func(t *testing.T) { lie(t, c.url, c.want) })
	}
}

// lie has a window send an address, and expects the tools' error for it.
func lie(t *testing.T, url, want string) {
	e := openEditor(t, t.TempDir())
	dir := filepath.Dir(os.Getenv("XDG_DATA_HOME"))
	session := host(t, dir, e.folder, "--no-launch", "--hold", "0")
	mustTool(t, session, "browser_tabs", map[string]any{"action": "list"})
	text, err := command(t.Context(), t, dir, "endpoint", "--workspace", e.folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.server.SetState(vscodeipc.State{Browser: &vscodeipc.Browser{URL: url, Via: "injected"}, Access: vscodeipc.Access{Mode: vscodeipc.AccessFull}}); err != nil {
		t.Fatal(err)
	}
	list := mustTool(t, session, "window_list", nil)
	err = untilTabs(t, session, func(err error) bool { return err != nil && strings.Contains(err.Error(), want) })
	if strings.Contains(list+err.Error(), "secret") {
		t.Errorf("the password is shown: %v\n%s", err, list)
	}
	for _, path := range []string{"/json/version", "/json/list"} {
		res, err := http.Get(strings.TrimSpace(string(text)) + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusBadGateway && res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("the endpoint answers %s: %s", res.Status, body)
		}
		if strings.Contains(string(body), "secret") {
			t.Errorf("the endpoint shows the password: %s", body)
		}
	}
}

// untilTabs calls a tool until its error is the expected one: the coordinator receives a
// new state asynchronously.
func untilTabs(t *testing.T, session *mcp.ClientSession, expected func(error) bool) error {
	t.Helper()
	for began := time.Now(); ; {
		_, err := tool(t, session, "browser_tabs", map[string]any{"action": "list"})
		if expected(err) {
			return err
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("browser_tabs: %v", err)
		}
	}
}
