package tools_test

import (
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/serving"
	"browser-coordinator/coordinator/status"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// shared is a browser in which two agents work, each in a tab of its own.
type shared struct {
	*testing.T
	window        *toolstest.Window
	url           string
	first, second *toolstest.Agent
	secondTab     string // its index
}

const sharedPage = `<!doctype html><title>Shared</title><script src="/app.js"></script>
<button onclick="one()">Go</button><button onclick="fetch('/item')">Later</button><a href="/next">Next</a>`

// newShared has the first agent work in the tab that the user sees, and the second in one that it opens.
func newShared(t *testing.T) *shared {
	t.Helper()
	s := &shared{T: t, window: toolstest.OpenWindow(t), url: toolstest.Serve(t, serveShared)}
	caps := []string{"network", "performance", "storage"}
	s.first, s.second = s.window.Agent(caps...), s.window.Agent(caps...)
	s.first.Open(s.url + "/first")
	s.second.Must("browser_snapshot", nil) // the first one's tab
	s.second.Must("browser_tabs", args{"action": "new", "url": s.url + "/second"})
	for line := range strings.Lines(s.second.Must("browser_tabs", args{"action": "list"})) {
		if strings.Contains(line, "/second") {
			s.secondTab, _, _ = strings.Cut(line, ":")
		}
	}
	return s
}

func serveShared(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/app.js":
		w.Header().Set("Content-Type", "text/javascript")
		io.WriteString(w, "function one() { return 1 }\n")
	case "/item":
		io.WriteString(w, "real")
	default:
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, sharedPage)
	}
}

// item is what an agent's page gets for a request.
const item = `() => fetch("/item").then((r) => r.text()).catch(() => "failed")`

const permission = `() => navigator.permissions.query({name: "geolocation"}).then((s) => s.state)`

// meets has the first agent read the second one's tab, whose result must name the second and its setting.
func (s *shared) meets(want string) {
	s.Helper()
	in := args{"tab": s.secondTab}
	s.first.Expect("browser_snapshot", in, "Another agent (test-host) "+want)
	if text := s.first.Must("browser_snapshot", in); strings.Contains(text, want) {
		s.Errorf("the first agent is told twice: %s", text)
	}
}

// settings test the rows of the table in the specification.
var settings = map[string]func(*shared){
	"tab": func(s *shared) {
		s.first.Refused("browser_click", args{"target": "button", "tab": s.secondTab}, "another agent")
	},
	"routes": func(s *shared) {
		s.second.Must("browser_route", args{"pattern": "**/*", "body": "mocked"})
		s.second.ExpectValue(item, `"mocked"`)
		s.first.ExpectValue(item, `"real"`)
		s.first.Expect("browser_navigate", args{"url": s.url + "/next"}, "Shared")
		s.first.Expect("browser_route_list", nil, "none")
		s.meets("answers, changes or fails requests of this tab by routes (browser_route).")
		s.first.ExpectValue(item, `"real"`) // it has read a tab with routes
		s.second.Must("browser_tabs", args{"action": "new", "url": s.url + "/third"})
		s.second.ExpectValue(`() => document.body.textContent`, `"mocked"`)
		must.Do(s, s.second.Close())
		s.first.ExpectValue(item, `"real"`)
	},
	"offline": func(s *shared) {
		s.second.Must("browser_network_state_set", args{"state": "offline"})
		s.second.ExpectValue(item, `"failed"`)
		s.first.ExpectValue(item, `"real"`)
		s.meets("has taken this tab offline (browser_network_state_set).")
	},
	"emulation": func(s *shared) {
		s.second.Must("browser_emulate", args{"timezone": "Asia/Tokyo", "locale": "ja-JP"})
		zone := `() => new Intl.DateTimeFormat().resolvedOptions().timeZone`
		s.second.ExpectValue(zone, `"Asia/Tokyo"`)
		if got := s.first.Evaluate(zone); got == `"Asia/Tokyo"` {
			s.Errorf("the first agent's page is in %s", got)
		}
		s.meets("emulates in this tab: the language, the time zone, the user agent (browser_emulate).")
		s.second.Must("browser_emulate", args{"reset": true})
		if text := s.first.Must("browser_snapshot", args{"tab": s.secondTab}); strings.Contains(text, "emulates") {
			s.Errorf("after reset: %s", text)
		}
	},
	"location permission": func(s *shared) {
		place := args{"geolocation": "52.5,13.4"}
		expect := func(when, want string) {
			s.Helper()
			if got := s.first.Evaluate(permission); got != want {
				s.Errorf("%s: %s, want %s", when, got, want)
			}
		}
		s.first.Must("browser_emulate", place)
		s.second.Must("browser_emulate", place)
		s.second.Must("browser_emulate", args{"reset": true})
		expect("the second has reset", `"granted"`)
		s.second.Must("browser_emulate", place)
		must.Do(s, s.second.Close())
		expect("the second has ended", `"granted"`)
		user := cdptest.Dial(s, s.window.Browser())
		user.Call("", "Browser.resetPermissions", "", nil)
		s.first.Expect("browser_snapshot", nil, "Another client of this browser had ended the permission")
		expect("a client has reset", `"granted"`)
		s.first.Must("browser_emulate", args{"reset": true})
		expect("the first has reset", `"prompt"`)
	},
	"viewport": func(s *shared) {
		s.second.Must("browser_emulate", args{"viewport": "700x500"})
		if got := s.first.Evaluate(`() => innerWidth`); got == "700" {
			s.Errorf("the first agent's page has the second's size")
		}
		s.meets("emulates in this tab: the size")
	},
	"coverage": func(s *shared) {
		same := s.window.Agent("performance") // in the first agent's tab
		s.first.Must("performance_start_coverage", nil)
		same.Refused("performance_start_coverage", nil, "another agent (test-host) records the coverage")
		s.first.Refused("performance_start_coverage", nil, "running already")
		s.first.Must("browser_click", args{"target": "button \"Go\""})
		s.first.Expect("performance_stop_coverage", nil, "/app.js")
		same.Must("performance_start_coverage", nil)
		s.first.Must("browser_click", args{"target": "button \"Go\""})
		same.Expect("performance_stop_coverage", nil, "/app.js")
		same.Must("performance_start_coverage", nil)
		same.Expect("performance_stop_coverage", nil, "Nothing ran")
		same.Must("performance_start_coverage", nil)
		must.Do(s, same.Close())
		s.first.Must("performance_start_coverage", nil)
	},
	"CPU profile": func(s *shared) {
		same := s.window.Agent("performance") // in the first agent's tab
		s.first.Must("performance_start_profile", nil)
		same.Must("performance_start_profile", nil)
		s.first.Evaluate(`() => { const end = performance.now() + 150; while (performance.now() < end) one() }`)
		same.Expect("performance_stop_profile", nil, "ms")
		s.first.Expect("performance_stop_profile", nil, "ms")
	},
	"trace": func(s *shared) {
		s.first.Must("performance_start_trace", nil)
		s.second.Refused("performance_start_trace", nil, "another agent (test-host) records a trace")
		s.first.Must("performance_stop_trace", nil)
		s.second.Must("performance_start_trace", nil)
		must.Do(s, s.second.Close())
		s.first.Must("performance_start_trace", nil)
	},
	"intercepted requests": func(s *shared) {
		endpoint, page := s.endpoint(), s.page("/first")
		client := cdptest.DialAs(s, endpoint, "Playwright/1")
		session := client.Attach(page)
		client.Call(session, "Fetch.enable", "", nil)
		s.told("The CDP client Playwright pauses requests")
		request := args{"expression": `fetch("/item").then(() => true)`, "time": 1} // a navigation has 30 seconds
		s.first.Refused("browser_wait_for", request, "the CDP client Playwright pauses requests", "disconnect")
		if status := s.status(); !strings.Contains(status, "Playwright") || !strings.Contains(status, "it pauses requests") {
			s.Error(status)
		}
		s.first.Expect("browser_click", args{"target": "text=Later"}, "No response yet", "held up: the CDP client Playwright")
		s.first.Expect("browser_click", args{"target": "text=Next"}, "still loading", "held up: the CDP client Playwright")
		if _, err := s.first.Call("browser_snapshot", nil); err == nil || strings.Contains(err.Error(), "has not answered") ||
			!strings.Contains(err.Error(), "The server may never have been asked: the CDP client Playwright pauses requests") {
			s.Error(err)
		}
		client.Leave()
		if status := s.status(); strings.Contains(status, "pauses") {
			s.Error(status)
		}
		s.first.Expect("browser_navigate", args{"url": s.url + "/again"}, "Shared")
	},
	"new tabs that wait": func(s *shared) {
		client := cdptest.DialAs(s, s.endpoint(), "Puppeteer/24")
		client.Call("", "Target.setAutoAttach",
			`{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}`, nil)
		// It takes the 30 seconds of a navigation: no tool that opens a tab has a shorter limit.
		s.first.Refused("browser_tabs", args{"action": "new", "url": s.url + "/held"},
			"the CDP client Puppeteer has each new tab wait", "disconnect")
	},
}

// endpoint serves the window's browser to CDP clients.
func (s *shared) endpoint() string {
	s.Helper()
	log := slog.New(slog.DiscardHandler)
	windows := registry.Open(s.Context(), registry.Options{})
	s.Cleanup(func() { windows.Close() })
	e, err := serving.Serve(s.Context(), s.window.Folder, windows.Source(s.window.Folder),
		&serving.Options{Logger: log, Claims: claim.NewPages(log)})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(e.Close)
	return "ws" + strings.TrimPrefix(e.URL(), "http") + "/devtools/browser/any"
}

// status is what coordinator status prints.
func (s *shared) status() string {
	s.Helper()
	windows := registry.Open(s.Context(), registry.Options{})
	defer windows.Close()
	listing, err := windows.List(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	report, err := status.Read(s.Context(), windows, listing)
	if err != nil {
		s.Fatal(err)
	}
	var text strings.Builder
	if err := report.Write(&text, time.Now()); err != nil {
		s.Fatal(err)
	}
	return text.String()
}

// page is the id of the tab with that path.
func (s *shared) page(path string) string {
	s.Helper()
	var found struct {
		TargetInfos []struct{ TargetID, URL string }
	}
	cdptest.Dial(s, s.window.Browser()).Call("", "Target.getTargets", "", &found)
	for _, info := range found.TargetInfos {
		if strings.HasSuffix(info.URL, path) {
			return info.TargetID
		}
	}
	s.Fatalf("no tab %s in %+v", path, found)
	return ""
}

// told awaits that the first agent is told something, which another process publishes.
func (s *shared) told(want string) {
	s.Helper()
	must.Await(s, "what the first agent is told", func() bool {
		return strings.Contains(s.first.Must("browser_tabs", args{"action": "list"})+
			s.first.Must("browser_find", args{"text": "Go"}), want)
	})
}

// TestSettingsOfOthers has a test for each row of the specification's table, and no other.
func TestSettingsOfOthers(t *testing.T) {
	t.Parallel()
	text := string(must.Get(os.ReadFile("../../specs/shared-browser.md"))(t))
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "what" {
			continue
		}
		rows++
		name := strings.TrimSpace(cells[1])
		test := settings[name]
		if test == nil {
			t.Errorf("the row %q has no test", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newShared(t))
		})
	}
	if rows != len(settings) {
		t.Errorf("%d rows, %d tests", rows, len(settings))
	}
}
