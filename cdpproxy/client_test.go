package cdpproxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// joined is a rule that reports clients to the test.
type joined struct {
	cdpproxy.Rule
	came, left chan *cdpproxy.Client
	ends       chan func(string)
}

func newJoined(rule cdpproxy.Rule) *joined {
	return &joined{rule, make(chan *cdpproxy.Client, 10), make(chan *cdpproxy.Client, 10), make(chan func(string), 10)}
}

func (j *joined) Register(c *cdpproxy.Client, end func(string)) { j.came <- c; j.ends <- end }
func (j *joined) Unregister(c *cdpproxy.Client)                 { j.left <- c }

// TestClients: the embedding program knows the connected clients, and can
// disconnect one with a reason.
func TestClients(t *testing.T) {
	watcher := newJoined(passAll{})
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), &cdpproxy.Options{Rule: watcher})
	ids := map[string]bool{}
	for _, c := range []struct{ agent, origin, name, version string }{
		{"Playwright/1.65.1 (x64; debian 12) node/20.20", "", "Playwright", "1.65.1"},
		{"Puppeteer 24.43.1", "", "Puppeteer", "24.43.1"},
		{"Go-http-client/1.1", "", "Go program", ""},
		{"Mozilla/5.0 (X11; Linux x86_64)", cdpproxy.DevToolsOrigin, "DevTools", ""},
		{"", "", "CDP client", ""},
		{"my\u202eprogram/" + strings.Repeat("9", 100), "", "my\ufffdprogram", strings.Repeat("9", 40)},
	} {
		header := http.Header{"User-Agent": {c.agent}}
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		conn, _, err := websocket.Dial(testContext(t), "ws://"+addr+"/devtools/browser/x",
			&websocket.DialOptions{HTTPHeader: header})
		if err != nil {
			t.Fatal(err)
		}
		got, end := <-watcher.came, <-watcher.ends
		if got.Name != c.name || got.Version != c.version || got.Since.IsZero() || ids[got.ID] {
			t.Errorf("%q: %+v, want %q %q", c.agent, got, c.name, c.version)
		}
		ids[got.ID] = true
		call(t, conn, getVersion)
		end("stopped by the test")
		end("again")
		_, _, err = conn.Read(testContext(t))
		if !closes(err, websocket.StatusPolicyViolation, "stopped by the test") {
			t.Errorf("%q: %v", c.agent, err)
		}
		if left := <-watcher.left; left != got {
			t.Errorf("%+v left, not %+v", left, got)
		}
		<-got.Done
	}
	// Other clients are not disturbed, and plain requests are no clients.
	if _, version := get(t, addr, "/json/version", nil); !strings.Contains(version, "Browser") ||
		len(watcher.came) != 0 {
		t.Errorf("after that: %s", version)
	}
}
