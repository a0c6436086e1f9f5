package tools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
)

// serveLogin identifies the visitor by the cookies that it receives, and sets some.
func serveLogin(t *testing.T) (url string) {
	t.Helper()
	return toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3cret", Path: "/", HttpOnly: true,
				SameSite: http.SameSiteStrictMode, MaxAge: 3600})
			http.SetCookie(w, &http.Cookie{Name: "theme", Value: "dark", Path: "/shop"})
			io.WriteString(w, `<!doctype html><title>In</title>
<script>localStorage.cart = JSON.stringify(["tea"]); localStorage.length2 = ""</script>`)
			return
		}
		cookie, err := r.Cookie("session")
		if err != nil {
			cookie = &http.Cookie{Value: "nobody"}
		}
		fmt.Fprintf(w, `<!doctype html><title>%s</title>`, cookie.Value)
	})
}

func TestCookiesAndStorage(t *testing.T) {
	t.Parallel()
	url, agent := serveLogin(t), toolstest.OpenWindow(t).Agent("storage")
	agent.Refused("browser_localstorage_list", nil, "about:blank")
	agent.Refused("browser_cookie_set", args{"name": "a", "value": "b"}, "domain")
	agent.Open(url + "/login")
	agent.Expect("browser_cookie_list", nil, "session=s3cret (127.0.0.1/)", "theme=dark (127.0.0.1/shop)")
	if list := agent.Must("browser_cookie_list", args{"path": "/shop"}); strings.Contains(list, "session") {
		t.Errorf("cookies of /shop:\n%s", list)
	}
	expectAll(t, agent, []toolCall{
		{"browser_cookie_get", args{"name": "session"},
			[]string{"session=s3cret", "SameSite Strict", "HttpOnly", "until 20"}},
		{"browser_cookie_set", args{"name": "session", "value": "Ada", "sameSite": "Lax"}, nil},
		{"browser_navigate", args{"url": url + "/"}, []string{"Page: Ada"}},
		{"browser_cookie_delete", args{"name": "session"}, []string{"Deleted"}},
		{"browser_navigate", args{"url": url + "/"}, []string{"Page: nobody"}},
		{"browser_cookie_clear", nil, nil},
		{"browser_cookie_list", nil, []string{"There are none."}},
	})
	for _, area := range []string{"local", "session"} {
		name := "browser_" + area + "storage_"
		agent.Must(name+"clear", nil)
		agent.Must(name+"set", args{"key": "length", "value": "ten"})
		agent.Must(name+"set", args{"key": "long", "value": strings.Repeat("x", 1000)})
		agent.ExpectValue("() => "+area+"Storage.getItem('length')", `"ten"`)
		if list := agent.Expect(name+"list", nil, "length=ten", "(1000 characters)"); len(list) > 400 {
			t.Errorf("%s:\n%s", area, list)
		}
		agent.Expect(name+"get", args{"key": "long"}, "long="+strings.Repeat("x", 1000))
		agent.Must(name+"delete", args{"key": "long"})
		if list := agent.Must(name+"list", nil); list != "length=ten" {
			t.Errorf("%s after delete:\n%s", area, list)
		}
	}
}

// A saved state restores in another browser, for all sites that the page has shown.
func TestStorageStateTravels(t *testing.T) {
	t.Parallel()
	first, second, browser := serveLogin(t), serveLogin(t), toolstest.Browser(t)
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	agent := w.Agent("storage")
	agent.Open(first + "/login")
	agent.Open(second + "/login")
	agent.Must("browser_localstorage_set", args{"key": "cart", "value": "second"})
	agent.Expect("browser_storage_state", args{"filename": "auth/state.json"},
		"2 cookies and the local storage of 2 origins")
	if got := tabURLs(t, browser.URL()); len(got) != 1 {
		t.Errorf("the page that visits origins is still there: %q", got)
	}
	file := agent.Saved("auth/state.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	checkStorageState(t, file)
	w.Close(t.Context())
	agent.Close()

	agent = toolstest.OpenWindowAt(t, w.Folder, toolstest.Browser(t).URL()).Agent("storage")
	agent.Open(first + "/")
	agent.Must("browser_localstorage_set", args{"key": "old", "value": "must go"})
	agent.Expect("browser_set_storage_state", args{"filename": "auth/state.json"}, "Restored 2 cookies")
	for url, cart := range map[string]string{first: `cart=["tea"]`, second: "cart=second"} {
		agent.Expect("browser_navigate", args{"url": url + "/"}, "Page: s3cret")
		if list := agent.Expect("browser_localstorage_list", nil, cart, "length2="); strings.Contains(list, "must go") {
			t.Errorf("local storage of %s:\n%s", url, list)
		}
	}
	agent.Expect("browser_cookie_get", args{"name": "session"}, "HttpOnly", "Strict", "until")
	for name, want := range map[string]string{"/etc/passwd": "out of bounds", "nowhere.json": "no such file",
		"src": "directory"} {
		agent.Refused("browser_set_storage_state", args{"filename": name}, want)
	}
}

// checkStorageState checks for the members and types that Playwright checks (its
// protocol's NetworkCookie and NameValue).
func checkStorageState(t *testing.T, file string) {
	t.Helper()
	var state struct {
		Cookies []args
		Origins []struct {
			Origin       string
			LocalStorage []args
		}
	}
	readJSON(t, file, &state)
	has := func(what args, types map[string]string) {
		t.Helper()
		if len(what) != len(types) {
			t.Errorf("other members than %v: %v", types, what)
		}
		for name, kind := range types {
			if got := fmt.Sprintf("%T", what[name]); got != kind {
				t.Errorf("%s is a %s, not a %s: %v", name, got, kind, what)
			}
		}
	}
	for _, c := range state.Cookies {
		has(c, map[string]string{"name": "string", "value": "string", "domain": "string", "path": "string",
			"expires": "float64", "httpOnly": "bool", "secure": "bool", "sameSite": "string"})
	}
	for _, o := range state.Origins {
		if o.Origin == "" || len(o.LocalStorage) == 0 {
			t.Errorf("origin %v", o)
		}
		for _, item := range o.LocalStorage {
			has(item, map[string]string{"name": "string", "value": "string"})
		}
	}
}

func readJSON(t *testing.T, file string, result any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, result); err != nil {
		t.Errorf("%s is not valid: %v", file, err)
	}
}

// The results for a slow page: the metrics, and files that DevTools opens.
func TestPerformanceTools(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>janky</title><h1 style="font-size:60px">Large</h1>
<div id=ad></div><p>below</p>
<script>setTimeout(function heavy() {
	const end = performance.now() + 120; while (performance.now() < end);
	ad.style.height = "400px";
	requestAnimationFrame(() => requestAnimationFrame(() => { document.title = "settled" }));
}, 100)</script>`)
	agent := toolstest.OpenWindow(t).Agent("performance")
	matches := func(text string, patterns ...string) {
		t.Helper()
		for _, p := range patterns {
			if !regexp.MustCompile(p).MatchString(text) {
				t.Errorf("the result lacks %s:\n%s", p, text)
			}
		}
	}
	settle := func() {
		agent.Evaluate(`() => new Promise((done) => {
			const look = () => document.title === "settled" ? done(1) : setTimeout(look, 10);
			look();
		})`)
	}
	agent.Refused("performance_stop_trace", args{"filename": "none.json"}, "start it first")
	agent.Open(url)
	agent.Expect("performance_start_trace", args{"reload": true}, "reloaded")
	settle()
	matches(agent.Must("performance_stop_trace", args{"filename": "out/trace.json"}),
		`Saved .*out/trace.json \([0-9.]+ MB\)`, regexp.QuoteMeta(url), `LCP \d+ms \(\w+.*\) H1 \(text\)`,
		`CLS 0\.(0[1-9]|[1-9])\d+ \(.*\), 1 shifts`, `INP: there was no interaction`,
		`Long tasks: [1-9]`, `- 1[2-9]\dms at \d+ms`, `Requests: [1-9]`, `GET `+regexp.QuoteMeta(url)+`/ => 200`)
	if trace, err := os.ReadFile(agent.Saved("out/trace.json")); err != nil || !json.Valid(trace) ||
		!strings.Contains(string(trace), `"documentLoaderURL":"`+url+`/"`) {
		t.Errorf("the navigation is not in the trace of %d bytes: %v", len(trace), err)
	}

	text := agent.Must("performance_heap_snapshot", args{"filename": "out/page.heapsnapshot"})
	var heap struct{ Nodes, Edges []int }
	if readJSON(t, agent.Saved("out/page.heapsnapshot"), &heap); len(heap.Nodes) == 0 || len(heap.Edges) == 0 ||
		!strings.Contains(text, "JavaScript heap") {
		t.Errorf("%s", text)
	}
	agent.Must("performance_start_profile", args{"reload": true})
	settle()
	matches(agent.Must("performance_stop_profile", args{"filename": "out/page.cpuprofile"}), `- [1-9]\d+ms heavy at`)
	var profile struct{ Nodes, Samples []any }
	if readJSON(t, agent.Saved("out/page.cpuprofile"), &profile); len(profile.Samples) == 0 {
		t.Error("the profile has no samples")
	}
	agent.Must("performance_start_coverage", args{"reload": true})
	agent.Expect("performance_stop_coverage", args{"filename": "out/coverage.json"}, "(JS)")
	var coverage []struct{ URL string }
	if readJSON(t, agent.Saved("out/coverage.json"), &coverage); len(coverage) != 1 || coverage[0].URL != url+"/" {
		t.Errorf("%+v", coverage)
	}
	// Without a name each file gets its own name, below the workspace.
	matches(agent.Must("performance_heap_snapshot", nil),
		regexp.QuoteMeta(agent.Saved("heap"))+`-\d{4}-.*\.heapsnapshot`)
	if files, err := filepath.Glob(agent.Saved("none*")); err != nil || len(files) > 0 {
		t.Errorf("half files are left: %v %v", files, err)
	}
}

// The agent's routes apply to its own pages and end with its MCP session. The
// developer's browser continues unchanged.
func TestRoutesEndWithTheSession(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			io.WriteString(w, "<!doctype html><title>shop</title>")
			return
		}
		fmt.Fprintf(w, "price 7 %s", r.Header.Get("X-Trace"))
	})
	browser := toolstest.Browser(t)
	user := toolstest.Sit(t, browser.URL())
	user.Browse(url)
	agent := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL()).Agent("network")
	ask := func(condition, want string) {
		t.Helper()
		got := user.Evaluate(`fetch("/price").then((r) => r.text().then((t) => r.status + " " + t), () => "failed")`)
		if got != want {
			t.Errorf("%s: %s, want %s", condition, got, want)
		}
	}
	route := func(a args) {
		t.Helper()
		agent.Must("browser_route", a)
	}
	agent.Expect("browser_route_list", nil, "There are none.")
	route(args{"pattern": "/price", "status": 503, "body": "closed", "contentType": "text/plain",
		"headers": []string{"Retry-After: 5"}})
	ask("answered", `"503 closed"`)
	route(args{"pattern": "**/price", "headers": []string{"X-Trace: abc"}})
	ask("sent on", `"200 price 7 abc"`)
	route(args{"pattern": "**/price", "abort": "timedout", "times": 1})
	agent.Expect("browser_route_list", nil, "1. **/price: fails with timedout, 1 times",
		"2. **/price: with X-Trace: abc", "3. /price: status 503, body closed")
	ask("aborted", `"failed"`)
	ask("sent on again", `"200 price 7 abc"`)
	agent.Expect("browser_unroute", args{"pattern": "**/price"}, "Removed 2 routes.")
	ask("answered again", `"503 closed"`)
	refuseAll(t, agent, []toolCall{
		{"browser_route", args{"pattern": "**", "headers": []string{"nonsense"}}, []string{"Name: Value"}},
		{"browser_route", args{"pattern": "**", "abort": "sleep"}, []string{"want one of"}},
		{"browser_route", args{"pattern": "**", "status": 7}, []string{"100 to 599"}},
	})
	agent.Must("browser_network_state_set", args{"state": "offline"})
	if got := user.Evaluate("navigator.onLine"); got != "false" {
		t.Error("the agent's page is online")
	}
	agent.Close()
	ask("afterwards", `"200 price 7 "`)
	if got := user.Evaluate("navigator.onLine"); got != "true" {
		t.Error("the developer's page is offline")
	}
}
