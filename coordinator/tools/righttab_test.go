package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// line is a relay to a browser that can be cut while the browser lives.
type line struct {
	url string

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newLine(t *testing.T, browser string) *line {
	t.Helper()
	to := must.Get(url.Parse(browser))(t)
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	l := &line{conns: map[net.Conn]bool{}}
	from := *to
	from.Host = ln.Addr().String()
	l.url = from.String()
	var running sync.WaitGroup
	running.Go(func() {
		for {
			down, err := ln.Accept()
			if err != nil {
				return
			}
			up, err := net.Dial("tcp", to.Host)
			if err != nil {
				down.Close()
				continue
			}
			l.mu.Lock()
			l.conns[down], l.conns[up] = true, true
			l.mu.Unlock()
			forward := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				to.Close()
				from.Close()
			}
			running.Go(func() { forward(up, down) })
			running.Go(func() { forward(down, up) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		l.cut()
		running.Wait()
	})
	return l
}

// cut ends all connections.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.Close()
	}
	clear(l.conns)
}

// A connection that ends while the browser lives changes nothing: the agent works in its tab.
func TestConnectionThatIsCut(t *testing.T) {
	t.Parallel()
	site, browser := toolstest.ServeSample(t), toolstest.Browser(t)
	l := newLine(t, browser.URL())
	toolstest.Sit(t, browser.URL()).Browse(site + "/users")
	agent := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), l.url).Agent()
	agent.Must("browser_tabs", args{"action": "new", "url": site + "/mine"})
	for range 3 {
		l.cut()
		agent.Expect("browser_snapshot", nil, "URL: "+site+"/mine") // it reads again if it met the end
		agent.ExpectValue("() => location.pathname", `"/mine"`)
	}
	agent.Must("browser_tabs", args{"action": "close"}) // it is still known as the agent's own
}

// restart gives a window another browser, as a debug session that restarts does.
func restart(agent *toolstest.Agent, w *toolstest.Window, browser string) {
	w.Show("", vscodeipc.AccessFull)
	agent.Await("no browser")
	w.Show(browser, vscodeipc.AccessFull)
	agent.Await("Chromium;")
}

// An index names the same tab in each connection, and in another browser none.
func TestIndexOfATab(t *testing.T) {
	t.Parallel()
	site, browser, next := toolstest.ServeSample(t), toolstest.Browser(t), toolstest.Browser(t)
	l := newLine(t, browser.URL())
	toolstest.Sit(t, browser.URL()).Browse(site + "/users")
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), l.url)
	agent := w.Agent()
	agent.Must("browser_tabs", args{"action": "new", "url": site + "/first"})
	agent.Must("browser_tabs", args{"action": "new", "url": site + "/second"})
	agent.Must("browser_tabs", args{"action": "close", "index": 1})
	where := "() => location.pathname"
	for range 3 {
		l.cut()
		agent.Expect("browser_snapshot", args{"tab": 2}, "URL: "+site+"/second")
		agent.Expect("browser_evaluate", args{"function": where, "tab": 2}, `"/second"`)
		agent.Expect("browser_evaluate", args{"function": where, "tab": 0}, `"/users"`)
		agent.Refused("browser_evaluate", args{"function": where, "tab": 1}, "no tab 1 is open now")
	}

	toolstest.Sit(t, next.URL()).Browse(site + "/next")
	restart(agent, w, next.URL())
	for index := range 3 {
		for _, call := range []struct {
			tool string
			in   args
		}{
			{"browser_evaluate", args{"function": where, "tab": index}},
			{"browser_tabs", args{"action": "select", "index": index}},
			{"browser_tabs", args{"action": "close", "index": index}},
		} {
			if answer, err := agent.Call(call.tool, call.in); err == nil {
				t.Errorf("%s with an index of the browser before has answered %s", call.tool, answer)
			}
		}
	}
	agent.Expect("browser_tabs", args{"action": "list"}, "3: ")
	agent.ExpectValue(where, `"/next"`)
}

// What lists, opens or selects tabs of another browser says that it is another one.
func TestTabsOfAnotherBrowser(t *testing.T) {
	t.Parallel()
	for _, in := range []args{{"action": "list"}, {"action": "new"}, {"action": "select", "index": 1}} {
		t.Run(in["action"].(string), func(t *testing.T) {
			t.Parallel()
			site, browser, next := toolstest.ServeSample(t), toolstest.Browser(t), toolstest.Browser(t)
			toolstest.Sit(t, browser.URL()).Browse(site + "/before")
			w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
			agent := w.Agent()
			agent.Expect("browser_snapshot", nil, "URL: "+site+"/before")
			toolstest.Sit(t, next.URL()).Browse(site + "/next")
			restart(agent, w, next.URL())
			agent.Expect("browser_tabs", in, "This is another browser than that of your last answer")
			agent.Must("browser_evaluate", args{"function": "() => 1"})
		})
	}
}

// An agent that lists the tabs after its own has closed reads in which one it works now.
func TestListAfterTheTabHasClosed(t *testing.T) {
	t.Parallel()
	site, browser := toolstest.ServeSample(t), toolstest.Browser(t)
	toolstest.Sit(t, browser.URL()).Browse(site + "/users")
	agent := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL()).Agent()
	where := "() => location.pathname"
	agent.Expect("browser_evaluate", args{"function": where}, `"/users"`)
	agent.Must("browser_tabs", args{"action": "new", "url": site + "/mine"})
	user := must.Get(page.Connect(t.Context(), browser.URL(), nil))(t)
	defer user.Close()
	for _, tab := range must.Get(user.Pages(t.Context()))(t) {
		if tab.URL == site+"/mine" {
			must.Do(t, user.ClosePage(t.Context(), tab.ID))
		}
	}
	const told = "The tab that you worked in has closed; you work in tab 0 now, which opened it."
	agent.Expect("browser_tabs", args{"action": "list"}, told, "0: ")
	if again := agent.Must("browser_tabs", args{"action": "list"}); strings.Contains(again, told) {
		t.Errorf("it is told twice: %s", again)
	}
	agent.Expect("browser_evaluate", args{"function": where}, `"/users"`)
}

// TestTheRightTab is the test of this name in package agent, with real tabs: whatever the agents, their
// user and their connections do, an action runs in the tab that the agent's last answer named.
func TestTheRightTab(t *testing.T) {
	for name, value := range map[string]int{
		"rapid.checks": longtest.Form(t, 1, 15), "rapid.steps": longtest.Form(t, 20, 40),
	} {
		must.Do(t, flag.Set(name, strconv.Itoa(value)))
	}
	rapid.Check(t, func(r *rapid.T) {
		browser := toolstest.Browser(t)
		l := newLine(t, browser.URL())
		site := toolstest.ServeHTML(t, "<!doctype html><title>Tab</title>")
		toolstest.Sit(t, browser.URL()).Browse(site + "/0")
		w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), l.url)
		user, err := page.Connect(t.Context(), browser.URL(), nil)
		if err != nil {
			r.Fatal(err)
		}
		defer user.Close()
		pages := 0
		address := func() string { pages++; return fmt.Sprintf("%s/%d", site, pages) }
		agents := []*tabAgent{{Agent: w.Agent()}, {Agent: w.Agent()}}
		for _, a := range agents {
			a.Await("Chromium;")
		}
		act := func(do func(*rapid.T, *tabAgent)) func(*rapid.T) {
			return func(r *rapid.T) { do(r, rapid.SampledFrom(agents).Draw(r, "agent")) }
		}
		usersTab := func(r *rapid.T, do func(context.Context, string) error) {
			tabs, err := user.Pages(t.Context())
			if err == nil && len(tabs) > 1 { // the browser ends with its last tab
				err = do(t.Context(), rapid.SampledFrom(tabs).Draw(r, "tab").ID)
			}
			if err != nil {
				r.Fatal(err)
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"act":  act(func(r *rapid.T, a *tabAgent) { a.act(r) }),
			"read": act(func(r *rapid.T, a *tabAgent) { a.read(r) }),
			"new": act(func(r *rapid.T, a *tabAgent) {
				a.tabs(r, args{"action": "new", "url": address()})
			}),
			"navigate": act(func(r *rapid.T, a *tabAgent) { a.navigate(r, address(), agents) }),
			"close":    act(func(r *rapid.T, a *tabAgent) { a.tabs(r, args{"action": "close"}) }),
			"select": act(func(r *rapid.T, a *tabAgent) {
				a.tabs(r, args{"action": "select", "index": rapid.IntRange(0, pages).Draw(r, "index")})
			}),
			"list":        act(func(r *rapid.T, a *tabAgent) { a.tabs(r, args{"action": "list"}) }),
			"user closes": func(r *rapid.T) { usersTab(r, user.ClosePage) },
			"user looks":  func(r *rapid.T) { usersTab(r, user.Activate) },
			"user opens": func(r *rapid.T) {
				if _, err := user.OpenTab(t.Context()); err != nil {
					r.Fatal(err)
				}
			},
			"cut": func(*rapid.T) { l.cut() },
			"start": func(*rapid.T) { // of another program
				claim.NewPages(slog.New(slog.DiscardHandler))
			},
		})
		for _, a := range agents {
			a.Close()
		}
	})
}

// tabAgent is an agent, and the tab that its last answer named, by its address.
type tabAgent struct {
	*toolstest.Agent
	named string // empty: none
}

// inAnswer matches an error that names the tab of the next call.
var inAnswer = regexp.MustCompile(`You work in tab \d+ (?:there|now), (?:which opened it: )?"[^"]*", ` +
	`(\S+?)(?:: look|$|\n)`)

// failed checks an error of a call, and notes the tab that it names.
func (a *tabAgent) failed(r *rapid.T, err error) {
	text := err.Error()
	if named := inAnswer.FindStringSubmatch(text); named != nil {
		a.named = named[1]
		return
	}
	switch {
	case strings.Contains(text, "the tab that you worked in was closed"), strings.Contains(text, "has no tab"):
		a.named = ""
	case strings.Contains(text, "othing was done"), strings.Contains(text, "may have been done"),
		strings.Contains(text, " works in the tab"), strings.Contains(text, "still work where you did"),
		strings.Contains(text, "was not opened by you"), strings.Contains(text, "during the call"),
		strings.Contains(text, "no tab"), strings.Contains(text, "nothing was sent"):
	default:
		r.Fatalf("an error that says neither where the agent works nor what was done: %v", err)
	}
}

// act runs an action that names no tab, and checks where it has run.
func (a *tabAgent) act(r *rapid.T) {
	text, err := a.Call("browser_evaluate", args{"function": "() => { document.title += '.'; return location.href }"})
	if err != nil {
		a.failed(r, err)
		return
	}
	where := addressIn.FindString(text)
	if a.named != "" && where != a.named {
		r.Fatalf("the action ran in %s, and the last answer named %s:\n%s", where, a.named, text)
	}
	a.named = where
}

var addressIn = regexp.MustCompile(`(?:http://127\.0\.0\.1:\d+/\d+|about:blank)`)

func (a *tabAgent) read(r *rapid.T) {
	text, err := a.Call("browser_snapshot", nil)
	if err != nil {
		a.failed(r, err)
		return
	}
	_, where, _ := strings.Cut(text, "URL: ")
	where = addressIn.FindString(where)
	if a.named != "" && where != a.named && !strings.Contains(text, "ou work in tab") {
		r.Fatalf("the snapshot is of %s, and the last answer named %s:\n%s", where, a.named, text)
	}
	a.named = where
}

// navigate opens an address in the agent's tab, or in a new one. Another agent may read in that tab too.
func (a *tabAgent) navigate(r *rapid.T, url string, agents []*tabAgent) {
	text, err := a.Call("browser_navigate", args{"url": url})
	if err != nil {
		a.failed(r, err)
		return
	}
	before, isNew := a.named, strings.Contains(text, "so this is a")
	for _, other := range agents {
		switch {
		case isNew:
		case before == "": // it may have been that tab
			other.named = ""
		case other.named == before:
			other.named = url
		}
	}
	a.named = url
}

// tabs checks that the current tab of an answer is the one that it says the agent works in.
func (a *tabAgent) tabs(r *rapid.T, in args) {
	res, err := a.CallTool(r.Context(), &mcp.CallToolParams{Name: "browser_tabs", Arguments: in})
	if err != nil {
		r.Fatal(err)
	}
	if res.IsError {
		a.failed(r, errors.New(res.Content[0].(*mcp.TextContent).Text))
		return
	}
	data, err := json.Marshal(res.StructuredContent)
	var out struct {
		Tabs []struct {
			URL     string
			Current bool
		}
	}
	if err := errors.Join(err, json.Unmarshal(data, &out)); err != nil {
		r.Fatal(err)
	}
	current := ""
	for _, tab := range out.Tabs {
		if tab.Current {
			current = tab.URL
		}
	}
	if in["action"] == "new" && current != in["url"] {
		r.Fatalf("the new tab is %s, and the current one %q", in["url"], current)
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if in["action"] == "list" && a.named != "" && current != a.named && current != "" &&
		!strings.Contains(text, "you work in tab") {
		r.Fatalf("the current tab is %s, and the last answer named %s:\n%s", current, a.named, text)
	}
	a.named = current
}
