package tools_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// leftovers is what the user's next document has of an agent: the user agent, the language,
// and the response to a request.
func leftovers(user *toolstest.User, url string) string {
	user.Browse(url)
	return user.Evaluate(`(async () =>
		[navigator.userAgent, navigator.onLine, await fetch("/data").then(r => r.text())].join(" "))()`)
}

// TestNothingOfAgentsGoesOn: when the user chooses a stricter mode, or stops the agent, its
// emulation and its routes end. It keeps its tab, and reads on where it may.
func TestNothingOfAgentsGoesOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode    vscodeipc.AccessMode
		stopped []string
	}{
		"ask":     {mode: vscodeipc.AccessAsk},
		"view":    {mode: vscodeipc.AccessView},
		"unknown": {mode: "wide"},
		"stopped": {vscodeipc.AccessFull, []string{toolstest.Host.Name}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/data" {
					io.WriteString(w, "from the server")
					return
				}
				w.Header().Set("Content-Type", "text/html")
				io.WriteString(w, "<title>Shop</title>")
			})
			browser := toolstest.Browser(t)
			user := toolstest.Sit(t, browser.URL())
			user.Browse(site)
			clean := leftovers(user, site)
			w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
			agent := w.Agent("network")
			agent.Must("browser_emulate", args{"userAgent": "left behind"})
			agent.Must("browser_route", args{"pattern": "**/data", "body": "from the agent"})
			if got := leftovers(user, site+"/1"); !strings.Contains(got, "left behind") ||
				!strings.Contains(got, "from the agent") {
				t.Fatalf("the agent has set up %s", got)
			}
			w.Allow(c.mode, c.stopped...)
			limit := time.Now().Add(30 * time.Second)
			for got := ""; got != clean; {
				if got = leftovers(user, site+"/2"); got != clean && time.Now().After(limit) {
					t.Fatalf("the user's next document has %s, want %s", got, clean)
				}
			}
			if c.stopped != nil {
				agent.Refused("browser_snapshot", nil, "stopped by the user")
				return
			}
			agent.Expect("browser_snapshot", nil, "Shop", "/2")
			agent.Expect("browser_route_list", nil, "There are none.")
		})
	}
}

// An agent that launches no browser, and that the user has stopped, is listed by its window alone.
func TestStoppedAgentWithoutLauncher(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	windows := registry.Open(t.Context(),
		registry.Options{Client: vscodeipc.Peer{Name: "coordinator", Version: "test"}})
	server := tools.NewServer(tools.Options{Options: agent.Options{Windows: windows, Dir: w.Folder}})
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(t.Context(), there) }()
	session := must.Get(mcp.NewClient(toolstest.Host, nil).Connect(t.Context(), here, nil))(t)
	t.Cleanup(func() {
		session.Close()
		<-ended
		windows.Close()
	})
	agent := toolstest.NewAgent(t, session, w.Folder)
	agent.Must("browser_snapshot", nil)
	w.Allow(vscodeipc.AccessFull, toolstest.Host.Name)
	must.Await(t, "the end of the agent's connection", func() bool {
		_, err := agent.Call("browser_snapshot", nil)
		return err != nil
	})
	if unlisted := server.Unlisted(t.Context()); unlisted != nil {
		t.Errorf("no window lists %+v", unlisted)
	}
}

// TestStopOutlivesARestart: a stopped agent that comes back as a new process is still
// stopped, until the user resumes it.
func TestStopOutlivesARestart(t *testing.T) {
	t.Parallel()
	w, first, _ := sample(t)
	first.Must("browser_snapshot", nil)
	listed := func(known map[string]bool) vscodeipc.ConnectedClient {
		t.Helper()
		return toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool {
			return len(a.Clients) == 1 && !known[a.Clients[0].ID]
		}).Clients[0]
	}
	me := listed(nil)
	w.Allow(vscodeipc.AccessFull, me.Name)
	limit := time.Now().Add(30 * time.Second)
	for _, err := first.Call("browser_snapshot", nil); err == nil; _, err = first.Call("browser_snapshot", nil) {
		if time.Now().After(limit) {
			t.Fatal("the agent is not stopped")
		}
	}
	first.Close()

	second := w.Agent()
	second.Refused("browser_click", clickGreet, "stopped by the user")
	second.Refused("browser_snapshot", nil, "stopped by the user")
	// The window lists it under the name that is stopped: it shows the same.
	if back := listed(map[string]bool{me.ID: true}); back.Name != toolstest.Host.Name || me.Name != back.Name {
		t.Errorf("it is listed as %+v, and was %+v", back, me)
	}
	w.Allow(vscodeipc.AccessFull)
	for _, err := second.Call("browser_click", clickGreet); err != nil; _,
		err = second.Call("browser_click", clickGreet) {
		if time.Now().After(limit) || !strings.Contains(err.Error(), "stopped by the user") {
			t.Fatalf("it goes on: %v", err)
		}
	}
}
