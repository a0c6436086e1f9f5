package status

import (
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/must"
)

func TestText(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	before := func(d time.Duration) time.Time { return now.Add(-d) }
	r := Report{
		Windows: []Window{{
			Hello:  Hello{Kind: "vscode", PID: 7, Browser: &Browser{Product: "Chrome/156.0", Via: "injected"}},
			Access: "ask", label: "/home/ada/shop",
			Endpoint: Endpoint{URL: "http://127.0.0.1:21000", Served: true, PID: 8, Program: "coordinator mcp"},
			Clients: []Client{
				{Name: "Claude Code", Version: "2.1", Kind: "mcp", Since: before(3 * time.Hour),
					Last: &Action{Time: before(4 * time.Second), Text: `browser_click button "Buy"`,
						URL: "http://shop.test/"}},
				{Name: "New\x1b[2J", Kind: "mcp", Since: before(70 * time.Second)},
				{Name: "Playwright", Kind: "cdp", Since: before(72 * time.Hour), Stopped: true,
					Last: &Action{Time: before(time.Minute), Text: strings.Repeat("x", 100), URL: ""}},
			},
		}, {
			Hello: Hello{Kind: "vscode", PID: 9}, Pages: 1, Access: "view", label: "/home/ada/old",
			Endpoint: Endpoint{URL: "http://127.0.0.1:21001"}, Clients: []Client{},
			ClientsUnknown: "this window does not report its agents",
		}},
		Endpoints: []Served{{
			Workspace: new("/home/ada/api"), Access: "view",
			Endpoint: Endpoint{URL: "http://127.0.0.1:21002", Served: true, PID: 10, Program: "coordinator serve",
				Waiting: 2},
		}},
		Agents: []Agent{
			{Client: Client{Name: "Codex", Version: "1.0", Since: before(time.Hour),
				Last: &Action{Time: before(time.Second), Text: "browser_snapshot", URL: ""}},
				PID: 11, Workspace: "/home/ada/api", Browser: &Browser{Product: "HeadlessChrome/156.0", Via: "launched"}},
			{Client: Client{Name: "Zed", Since: before(time.Minute)}, PID: 12, Workspace: "/home/ada"},
			{Client: Client{Name: "Zed", Since: before(time.Minute)}, PID: 13, Workspace: "/home/ada",
				Waiting: "waiting for a browser"},
		},
		Unreachable: []Unreachable{{"/run/ipc-1.sock", "it does not respond"}},
	}
	var text strings.Builder
	must.Do(t, r.Write(&text, now))
	want := `/home/ada/shop (vscode, process 7)
  browser   Chrome/156.0 (injected)
  access    ask
  endpoint  http://127.0.0.1:21000, served by coordinator mcp (process 8)
  clients   Claude Code 2.1       mcp  for 3h  4s ago: browser_click button "Buy", in http://shop.test/
            New\x1b[2J            mcp  for 1m  nothing yet
            Playwright (stopped)  cdp  for 3d  1m ago: ` + strings.Repeat("x", 79) + `…

/home/ada/old (vscode, process 9)
  browser   the pages of a shared debug session
  access    view
  endpoint  http://127.0.0.1:21001, not served
  clients   this window does not report its agents

/home/ada/api (no window)
  browser   none, and 2 requests wait for one: start the debug session (F5 in VS Code)
  access    view
  endpoint  http://127.0.0.1:21002, served by coordinator serve (process 10)
  clients   none

Agents without a window
  Codex 1.0  for 1h  1s ago: browser_snapshot  HeadlessChrome/156.0 (launched)  /home/ada/api
  Zed        for 1m  nothing yet               no browser yet                   /home/ada
  Zed        for 1m  nothing yet               waiting for a browser            /home/ada

/run/ipc-1.sock: it does not respond
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &text, want)
	}
}
