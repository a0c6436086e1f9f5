package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// A window that lies about its browser leads no client off this machine. It gets no
// credentials, and no redirect is followed, by the tools or by the CDP endpoint.
func TestLyingWindow(t *testing.T) {
	t.Parallel()
	var dialed, redirected atomic.Int32
	count := func(n *atomic.Int32) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			n.Add(1)
			w.WriteHeader(http.StatusTeapot)
		}
	}
	liar := httptest.NewServer(count(&dialed))
	t.Cleanup(liar.Close)
	elsewhere, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("this system has one loopback address only: %v", err)
	}
	target := &httptest.Server{Listener: elsewhere, Config: &http.Server{Handler: count(&redirected)}}
	target.Start()
	t.Cleanup(target.Close)
	redirects := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirects.Close)

	browser := toolstest.Browser(t)
	// The window protocol forbids all of these addresses but one, so the window is not used.
	const unusable = ": incompatible peer: the address of its browser is not "
	for name, c := range map[string]struct{ url, want string }{
		"credentials":       {"ws://name:secret@" + liar.Listener.Addr().String() + "/devtools/browser/x", unusable},
		"HTTP credentials":  {"http://name:secret@" + liar.Listener.Addr().String(), unusable},
		"a redirect":        {"ws" + strings.TrimPrefix(redirects.URL, "http") + "/devtools/browser/x", "307"},
		"HTTP":              {redirects.URL, unusable},
		"another host":      {"ws://192.0.2.1:9222/devtools/browser/x", unusable},
		"another HTTP host": {"http://192.0.2.1:9222", unusable},
		"TLS":               {"wss://127.0.0.1:9222/devtools/browser/x", unusable},
	} {
		w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
		agent := host(t, toolstest.Dir, w.Folder, "--no-launch", "--hold", "0")
		agent.Must("browser_tabs", args{"action": "list"})
		endpoint := output(t, toolstest.Dir, "endpoint", "--workspace", w.Folder)
		if err := w.SetState(vscodeipc.State{
			Browser: &vscodeipc.Browser{URL: c.url, Via: "injected"},
			Access:  vscodeipc.Access{Mode: vscodeipc.AccessFull},
		}); err != nil {
			t.Fatal(err)
		}
		if c.want == unusable {
			c.want = string(w.Address()) + unusable
		}
		text := agent.Must("window_list", nil)
		for startTime := time.Now(); !strings.Contains(text, c.want); text += err.Error() {
			if _, err = agent.Call("browser_tabs", args{"action": "list"}); err == nil {
				err = net.ErrClosed // the coordinator has not received the new state yet
			}
			if time.Since(startTime) > time.Minute {
				t.Fatalf("%s: %s", name, text)
			}
		}
		for _, path := range []string{"/json/version", "/json/list"} {
			status, body := get(t, endpoint+path, nil)
			if text += body; status != http.StatusBadGateway && status != http.StatusServiceUnavailable {
				t.Errorf("%s: the endpoint answers %d: %s", name, status, body)
			}
		}
		if strings.Contains(text, "secret") {
			t.Errorf("%s: the password is shown: %s", name, text)
		}
		agent.Close()
		w.Close(t.Context())
	}
	if d, r := dialed.Load(), redirected.Load(); d+r > 0 {
		t.Errorf("an address with credentials was dialed %d times, a redirect was followed %d times", d, r)
	}
}
