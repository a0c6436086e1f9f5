package tools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// twoSites are two servers: an agent may reach one and not the other.
type twoSites struct {
	allowed, forbidden *httptest.Server
	port               string // of forbidden

	mu       sync.Mutex
	received []string // the requests that forbidden received
}

func newTwoSites(t *testing.T) *twoSites {
	t.Helper()
	s := &twoSites{}
	s.forbidden = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.received = append(s.received, fmt.Sprintf("%s %s%s %s", r.Method, r.Host, r.URL, body))
		s.mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		w.Header().Set("Access-Control-Allow-Headers", "content-type,x-agent")
		w.Header().Set("Access-Control-Allow-Methods", "PUT,POST,DELETE")
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", "attachment")
		}
		io.WriteString(w, "<title>Forbidden</title>forbidden fruit")
	}))
	t.Cleanup(s.forbidden.Close)
	_, s.port, _ = net.SplitHostPort(s.forbidden.Listener.Addr().String())
	s.allowed = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch r.URL.Path {
		case "/redirect":
			w.Header().Set("Location", query.Get("to"))
			w.WriteHeader(number(t, query.Get("status")))
		case "/to":
			fmt.Fprintf(w, `<title>Allowed</title><meta http-equiv=refresh content="%s">`, query.Get("refresh"))
		default:
			fmt.Fprintf(w, `<title>Allowed</title>
<a id=link href="%[1]s/link">link</a> <a id=away href="%[2]s">away</a>
<a id=download download=x.txt href="%[1]s/file">download</a>
<form id=form method=post action="%[1]s/form"><input name=a value=secret><button id=post>post</button></form>
<button id=script onclick="location.href='HTTP://0x7f.1:%[3]s/script'">script</button>
<button id=open onclick="window.open('%[1]s/popup')">open</button>`,
				s.forbidden.URL, s.redirect(http.StatusFound, s.forbidden.URL), s.port)
		}
	}))
	t.Cleanup(s.allowed.Close)
	return s
}

// reached are the requests that forbidden received since the last call.
func (s *twoSites) reached() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	received := s.received
	s.received = nil
	return received
}

// redirect is an address of the allowed server that redirects to another address.
func (s *twoSites) redirect(status int, to string) string {
	return fmt.Sprintf("%s/redirect?status=%d&to=%s", s.allowed.URL, status, url.QueryEscape(to))
}

// spellings are addresses of the forbidden server in all forms that a browser accepts.
func (s *twoSites) spellings() []string {
	var all []string
	for _, form := range []string{
		"http://127.0.0.1:PORT/plain", "HTTP://127.0.0.1:PORT/scheme", "hTTp://127.0.0.1:PORT/scheme",
		"http://2130706433:PORT/decimal", "http://0x7f000001:PORT/hex",
		"http://0177.0.0.1:PORT/octal", "http://0x7f.1:PORT/short", "http://127.1:PORT/short",
		"http://127.0.0.1:PORT/#fragment", "http://127.0.0.1:PORT/a/./b/../c",
		`http:\\127.0.0.1:PORT\backslash`, `http:/\127.0.0.1:PORT/mixed`, "http:///127.0.0.1:PORT/slashes",
		"ht\ntp://127.0.\t0.1:PORT/tab", "\x01 http://127.0.0.1:PORT/space ",
		"http://１２７．０．０．１:PORT/fullwidth", "http://127。0。0。1:PORT/dots",
		"http://%31%32%37.0.0.1:PORT/percent",
		"http://127.0.0.1.:PORT/dot", "http://127.0.0.1:0PORT/zero",
		"http://[::ffff:127.0.0.1]:PORT/mapped", "http://lOcAlHoSt:PORT/name", "http://localhost.:PORT/namedot",
		"http://ｌｏｃａｌｈｏｓｔ:PORT/fullname", "//127.0.0.1:PORT/relative",
	} {
		all = append(all, strings.ReplaceAll(form, "PORT", s.port))
	}
	return all
}

// limited runs a test with an agent on the allowed site, once that may reach only this
// site, and once that may not reach the other one.
func limited(t *testing.T, run func(t *testing.T, s *twoSites, w *toolstest.Window, agent *toolstest.Agent,
	flag string)) {
	for _, flag := range []string{"--allowed-origins", "--blocked-origins"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			s, w := newTwoSites(t), toolstest.OpenWindow(t)
			limits := origins(t, []string{s.allowed.URL, "http://nobody.example"}, nil)
			if flag == "--blocked-origins" {
				limits = origins(t, nil, []string{"http://127.0.0.1:" + s.port, "http://[::1]:" + s.port,
					"http://localhost:" + s.port})
			}
			agent := w.Start(options{Origins: limits})
			agent.Open(s.allowed.URL)
			run(t, s, w, agent, flag)
		})
	}
}

// refuses calls a tool, which must fail, and must not reach the forbidden site.
func (s *twoSites) refuses(t *testing.T, agent *toolstest.Agent, name string, a args, want ...string) {
	t.Helper()
	agent.Refused(name, a, want...)
	if reached := s.reached(); len(reached) > 0 {
		t.Errorf("%s %q reached %q", name, a, reached)
	}
}

// browser_fetch reaches no other origin, whatever the spelling of its address and its
// redirects, with a body or a preflight too.
func TestFetchStaysWithinOrigins(t *testing.T) {
	t.Parallel()
	limited(t, func(t *testing.T, s *twoSites, _ *toolstest.Window, agent *toolstest.Agent, flag string) {
		check := func(a args) {
			t.Helper()
			s.refuses(t, agent, "browser_fetch", a)
		}
		for _, address := range s.spellings() {
			check(args{"url": address})
			if !strings.ContainsAny(address, "\n\x01") { // no header can contain these
				check(args{"url": s.redirect(http.StatusFound, address)})
			}
		}
		for _, status := range []int{301, 302, 303, 307, 308} {
			to := s.redirect(status, s.forbidden.URL+"/redirected")
			for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
				check(args{"url": to, "method": method})
				check(args{"url": s.redirect(status, s.forbidden.URL+"/redirected#own"), "method": method,
					"headers": map[string]string{"X-Agent": "1"}})
				check(args{"url": "HTTP" + strings.TrimPrefix(to, "http") + "#x", "method": method,
					"headers": map[string]string{"Content-Type": "application/json", "X-Agent": "1"},
					"body":    `{"stolen":1}`})
			}
			check(args{"url": s.redirect(status, to)})
		}
		check(args{"url": s.forbidden.URL + "/preflight", "method": "PUT", "headers": map[string]string{"X-Agent": "1"},
			"body": "stolen"})
		s.refuses(t, agent, "browser_fetch", args{"url": s.forbidden.URL + "/fetch"}, flag)
		agent.Expect("browser_fetch", args{"url": s.redirect(307, "/?redirected"), "method": "POST", "body": "x"},
			"Allowed")
		agent.Expect("browser_fetch", args{"url": "data:text/plain,here"}, "here")
	})
}

// The agent's tab reaches no other origin either, however a page tries to lead it away.
// Other clients' pages have no such limit.
func TestTabStaysWithinOrigins(t *testing.T) {
	t.Parallel()
	limited(t, func(t *testing.T, s *twoSites, w *toolstest.Window, agent *toolstest.Agent, flag string) {
		for _, address := range append(s.spellings(), "view-source:"+s.forbidden.URL,
			"http://"+s.allowed.Listener.Addr().String()+"@127.0.0.1:"+s.port+"/user", "blob:"+s.forbidden.URL+"/0a1b",
			"filesystem:"+s.forbidden.URL+"/temporary/x") {
			s.refuses(t, agent, "browser_navigate", args{"url": address})
			s.refuses(t, agent, "browser_tabs", args{"action": "new", "url": address})
		}
		if list := agent.Must("browser_tabs", args{"action": "list"}); strings.Contains(list,
			" http://127.0.0.1:"+s.port) || strings.Contains(list, "Forbidden") {
			t.Errorf("tabs that were refused are left: %s", list)
		}
		away := s.redirect(http.StatusFound, s.forbidden.URL)
		for _, address := range []string{s.forbidden.URL, away, s.redirect(http.StatusFound, away)} {
			s.refuses(t, agent, "browser_navigate", args{"url": address}, flag)
		}
		agent.Open(s.allowed.URL)
		for _, target := range []string{"#link", "#away", "#script", "#post"} {
			agent.Expect("browser_click", args{"target": target}, "A navigation was refused: http://127.0.0.1:"+s.port)
			agent.ExpectValue("() => document.title", `"Allowed"`)
		}
		_, _ = agent.Call("browser_click", args{"target": "#download"})
		agent.Open(s.allowed.URL + "/to?refresh=" + url.QueryEscape("0;url="+s.forbidden.URL+"/refresh"))
		agent.Must("browser_wait_for", args{"expression": "document.readyState == 'complete'"})
		agent.ExpectValue("() => document.title", `"Allowed"`)
		if reached := s.reached(); len(reached) > 0 {
			t.Errorf("links, forms, scripts or a refresh reached %q", reached)
		}

		// A tab that the page itself opens is listed, but the agent cannot work in it.
		agent.Open(s.allowed.URL)
		agent.Expect("browser_click", args{"target": "#open"}, "A new tab opened")
		agent.SelectTab(func(line string) bool { return strings.Contains(line, "/popup") })
		// The tab may still be loading. Then this call waits; otherwise it is refused.
		_, _ = agent.Call("browser_wait_for", args{"url": s.forbidden.URL, "time": 5})
		for _, name := range []string{"browser_snapshot", "browser_take_screenshot", "browser_console_messages"} {
			agent.Refused(name, nil, "out of bounds")
		}
		agent.Open(s.allowed.URL) // back
		w.Agent().Expect("browser_tabs", args{"action": "new", "url": s.forbidden.URL}, "Forbidden")
	})
}

// An agent does not see the titles of tabs that it may not read, wherever tabs are named.
func TestTitlesStayWithinBounds(t *testing.T) {
	t.Parallel()
	limited(t, func(t *testing.T, s *twoSites, w *toolstest.Window, agent *toolstest.Agent, _ string) {
		outside := t.TempDir()
		writeFiles(t, map[string]string{filepath.Join(outside, "secret.html"): "<title>Forbidden file</title>"})
		other := w.Start(options{OutputDir: outside}) // which may read both
		for _, address := range []string{s.forbidden.URL + "/mail", "file://" + outside + "/secret.html"} {
			other.Expect("browser_tabs", args{"action": "new", "url": address}, "Forbidden")
		}
		agent.Expect("browser_click", args{"target": "#open"}, "A new tab opened")
		call := func(name string, a args) string {
			t.Helper()
			res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: a})
			if err != nil {
				t.Fatal(err)
			}
			all, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			return string(all)
		}
		other.SelectTab(func(line string) bool { return strings.Contains(line, "/popup") })
		other.Must("browser_wait_for", args{"text": "forbidden fruit"})
		list := call("browser_tabs", args{"action": "list"})
		for _, want := range []string{"(out of bounds) " + s.forbidden.URL + "/mail", "(out of bounds) " +
			s.forbidden.URL + "/popup", "(out of bounds) file://", "Allowed " + s.allowed.URL} {
			if !strings.Contains(list, want) {
				t.Errorf("the list lacks %q: %s", want, list)
			}
		}
		for _, text := range []string{list, call("browser_tabs", args{"action": "select", "index": 99}),
			call("browser_snapshot", args{"tab": 99}), call("browser_snapshot", nil)} {
			if strings.Contains(text, "Forbidden") {
				t.Error(text)
			}
		}
	})
}

// debug_start opens no other origin either. No browser resolves its address, so an
// ambiguous address is refused.
func TestDebugStartStaysWithinOrigins(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), "")
	w.Handle(vscodeipc.CommandDebugStart, func(vscodeipc.Call) (any, error) {
		return vscodeipc.DebugStartResult{Session: "s1", Name: "Launch shop"}, nil
	})
	agent := w.Start(options{Origins: origins(t, []string{"http://localhost:3000"}, []string{"http://127.0.0.1:*"})})
	for _, address := range []string{"http://other.example/", "http://0x7f.1:3000/", `http:\\localhost:3000`,
		"http://user@localhost:3000/"} {
		agent.Refused("debug_start", args{"url": address}, "is not allowed")
	}
	agent.Must("debug_start", args{"url": "http://localhost:3000/"})
	if n := len(w.Calls(vscodeipc.CommandDebugStart)); n != 1 {
		t.Errorf("the window was asked to start %d times, want once", n)
	}
}

// An agent gets no history and no storage from the time when a tab showed a document that
// the agent's limits refuse.
func TestHistoryStaysWithinOrigins(t *testing.T) {
	t.Parallel()
	allowed := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.Host, ":")
		w.Header().Set("Content-Type", "text/html")
		http.SetCookie(w, &http.Cookie{Name: "of", Value: "cookie-" + name})
		fmt.Fprintf(w, `<!doctype html><title>%[1]s</title><script>console.log("message of %[1]s");
localStorage.of = "stored-%[1]s"; const fetched = fetch("/data-%[1]s").then(r => r.text())</script>`, name)
	})
	forbidden := strings.Replace(allowed, "127.0.0.1", "localhost", 1)
	w := toolstest.OpenWindow(t)
	user := toolstest.Sit(t, w.Browser())
	for name, limits := range map[string][2][]string{
		"allowed": {{"127.0.0.1"}, nil}, "blocked": {nil, {forbidden, "https://localhost:443", "http://localhost:80"}},
	} {
		agent := w.Start(options{Origins: origins(t, limits[0], limits[1])}, "storage")
		user.Browse(allowed)
		agent.Must("browser_tabs", args{"action": "list"}) // it is connected, and records
		for _, address := range []string{forbidden, allowed} {
			user.Browse(address)
			user.Evaluate("fetched")
		}
		const leftOut = "Left out because of --allowed-origins or --blocked-origins: "
		for _, read := range []toolCall{
			{"browser_console_messages", args{"all": true}, []string{"message of 127.0.0.1", leftOut, "messages"}},
			{"browser_network_requests", args{"static": true}, []string{"/data-127.0.0.1", leftOut, "requests"}},
			{"browser_cookie_list", nil, []string{"cookie-127.0.0.1", leftOut, "cookies"}},
			{"browser_cookie_get", args{"name": "of"}, []string{"cookie-127.0.0.1", leftOut, "cookies"}},
			{"browser_storage_state", args{"filename": name + ".json"},
				[]string{"Saved 1 cookies and the local storage of 1 origins", leftOut, "origins"}},
		} {
			if text := agent.Expect(read.tool, read.args, read.want...); strings.Contains(text, "localhost") {
				t.Errorf("%s: %s", read.tool, text)
			}
		}
		state, err := os.ReadFile(agent.Saved(name + ".json"))
		if err != nil || strings.Contains(string(state), "localhost") ||
			!strings.Contains(string(state), "stored-127.0.0.1") {
			t.Errorf("the storage state: %s %v", state, err)
		}
		for index := range 20 {
			if text, err := agent.Call("browser_network_request", args{"index": index + 1}); err == nil &&
				strings.Contains(text, "localhost") {
				t.Errorf("request %d: %s", index+1, text)
			}
		}
		agent.Close()
	}
}

// Frames of other origins stay out of bounds in a tab that is within: of the same process, of
// another one, and what has no origin of its own in them.
func TestFramesStayWithinOrigins(t *testing.T) {
	t.Parallel()
	other := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `<!doctype html><title>Bank</title><body style="margin:0"><button
  style="width:300px;height:60px" onclick="parent.postMessage('clicked', '*')">Forbidden fruit</button><iframe
  srcdoc="<p>Forbidden core"></iframe>`)
	})
	_, port, _ := strings.Cut(strings.TrimPrefix(other, "http://"), ":")
	site := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/own" {
			fmt.Fprint(w, "<p>Own frame")
			return
		}
		fmt.Fprintf(w, `<!doctype html><body style="margin:0">
<script>onmessage = () => { document.title = "clicked" }</script>
<iframe id=near style="position:absolute;top:0;left:0;width:320px;height:80px" src="%s"></iframe>
<div style="height:100px"></div>
<iframe src="http://localhost:%s/"></iframe><iframe src=/own></iframe><iframe srcdoc="<p>Own text"></iframe>`,
			other, port)
	})
	agent := toolstest.OpenWindow(t).Start(options{Origins: origins(t, []string{site}, nil)})
	first := agent.Open(site)
	agent.Must("browser_wait_for", args{"text": "Own frame"})
	answers := []string{first, agent.Must("browser_snapshot", nil),
		agent.Must("browser_find", args{"text": "Forbidden"}), agent.Must("browser_markdown", nil),
		agent.Must("browser_dom", nil)}
	if text := answers[1]; strings.Count(text, "(out of bounds)") != 2 || !strings.Contains(text, "Own frame") ||
		!strings.Contains(text, "Own text") {
		t.Error(text)
	}
	for _, tool := range []struct {
		name string
		args args
	}{
		{"browser_click", args{"target": "text=Forbidden fruit", "timeout": 500}},
		{"browser_wait_for", args{"text": "Forbidden", "time": 0.5}},
	} {
		answer, err := agent.Call(tool.name, tool.args)
		if err == nil {
			t.Errorf("%s: %s", tool.name, answer)
		}
		answers = append(answers, answer)
	}
	agent.ExpectValue("() => document.title", `""`)
	for _, answer := range answers {
		if strings.Contains(answer, "fruit\"") || strings.Contains(answer, "core") {
			t.Errorf("an answer with what is out of bounds: %s", answer)
		}
	}
}
