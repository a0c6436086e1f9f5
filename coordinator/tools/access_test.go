package tools_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

func sample(t *testing.T) (*toolstest.Window, *toolstest.Agent, *toolstest.User) {
	t.Helper()
	browser := toolstest.Browser(t)
	user := toolstest.Sit(t, browser.URL())
	user.Browse(toolstest.ServeSample(t))
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	return w, w.Agent(), user
}

func TestViewMode(t *testing.T) {
	t.Parallel()
	w, agent, _ := sample(t)
	agent.Must("browser_snapshot", nil)
	w.Allow(vscodeipc.AccessView)
	agent.Await("[access: view]")
	agent.Refused("browser_click", clickGreet, inView)
	agent.Refused("browser_fetch", args{"url": "/", "filename": "x"}, `"view"`)
	agent.Refused("browser_wait_for", args{"expression": "true"}, `"view"`)
	agent.Refused("browser_steps", args{"steps": []args{{"action": "wait", "expression": "true"}}}, `"view"`)
	agent.Must("browser_snapshot", nil)
	agent.Expect("browser_snapshot", args{"filename": "page"}, "Saved the snapshot to")
	agent.Must("browser_tabs", args{"action": "list"})
	w.Allow(vscodeipc.AccessFull)
	for _, err := agent.Call("browser_click", clickGreet); err != nil; _,
		err = agent.Call("browser_click", clickGreet) {
		if !strings.Contains(err.Error(), inView) {
			t.Fatalf("a click in full mode: %v", err)
		}
	}
	toolstest.Called(w, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool {
		return slices.ContainsFunc(r.Entries, func(e vscodeipc.Activity) bool {
			return e.Act == "browser_click" && e.OK && e.Target == `button "Greet"` &&
				strings.HasPrefix(e.URL, "http://127.0.0.1")
		})
	})
}

func TestThePageOfAnAgentIsAnnounced(t *testing.T) {
	t.Parallel()
	w, agent, _ := sample(t)
	agent.Must("browser_snapshot", nil)
	worksIn := func(fits func(page string) bool) string {
		announced := toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool {
			return len(a.Clients) == 1 && fits(a.Clients[0].Page)
		})
		return announced.Clients[0].Page
	}
	first := worksIn(func(page string) bool { return page != "" })
	agent.Must("browser_tabs", args{"action": "new"})
	second := worksIn(func(page string) bool { return page != "" && page != first })
	before := len(w.Calls(vscodeipc.CommandClientAnnounce))
	agent.Must("browser_tabs", args{"action": "close"})
	toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool {
		return len(w.Calls(vscodeipc.CommandClientAnnounce)) > before && len(a.Clients) == 1 &&
			a.Clients[0].Page != second
	})
}

func TestAskMode(t *testing.T) {
	t.Parallel()
	w, agent, _ := sample(t)
	agent.Must("browser_snapshot", nil)
	w.Allow(vscodeipc.AccessAsk)
	agent.Await("[access: ask]")
	decision := vscodeipc.AskResult{Decision: "refuse", Reason: "human"}
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) { return decision, nil })
	agent.Refused("browser_click", clickGreet, "did not allow")
	q := toolstest.Called[vscodeipc.AskArg](w, vscodeipc.CommandPermissionAsk, nil)
	if q.Client.Name != "test-host" || q.Act != "browser_click" || q.Detail != `Click button "Greet"` ||
		q.Page == nil || q.Page.Title != "Sample" {
		t.Errorf("the question is %+v about %+v", q, q.Page)
	}
	agent.Refused("browser_tabs", args{"action": "new", "url": "http://shop.test/"}, "did not allow")
	toolstest.Called(w, vscodeipc.CommandPermissionAsk, func(a vscodeipc.AskArg) bool {
		return a.Detail == "Open a tab: http://shop.test/"
	})
	decision = vscodeipc.AskResult{Decision: "allow"}
	agent.Must("browser_click", clickGreet)
}

// TestQuestionHasTheWholeScript: no part of what a call does is left out of the question. What is too long for one
// is refused.
func TestQuestionHasTheWholeScript(t *testing.T) {
	t.Parallel()
	w, agent, _ := sample(t)
	agent.Must("browser_snapshot", nil)
	w.Allow(vscodeipc.AccessAsk)
	agent.Await("[access: ask]")
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "refuse", Reason: "human"}, nil
	})
	long := strings.Repeat("nothing; ", 1000) + "evil();" + strings.Repeat("nothing; ", 1000)
	for tool, arguments := range map[string]args{
		"browser_evaluate": {"function": long},
		"browser_fetch":    {"url": "/order", "method": "POST", "body": long},
	} {
		agent.Refused(tool, arguments, "did not allow")
		toolstest.Called(w, vscodeipc.CommandPermissionAsk, func(a vscodeipc.AskArg) bool {
			return a.Act == tool && strings.Contains(a.Detail, long)
		})
	}
	asked := len(w.Calls(vscodeipc.CommandPermissionAsk))
	agent.Refused("browser_evaluate", args{"function": strings.Repeat(long, 10)}, "cannot read", "64 kB at most")
	if n := len(w.Calls(vscodeipc.CommandPermissionAsk)); n != asked {
		t.Error("the user was asked about what cannot be shown")
	}
}

// The user is not asked about what cannot be done: nothing runs in a paused page, an element
// has gone, or no browser runs.
func TestNoQuestionInVain(t *testing.T) {
	t.Parallel()
	browser := toolstest.Browser(t)
	user := toolstest.Sit(t, browser.URL())
	user.Browse(toolstest.ServeHTML(t, stuckPage))
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	agent := w.Agent()
	save := agent.Ref("button", "Save")
	user.Evaluate("document.querySelector('#save').remove()")
	user.Do("Debugger.enable", nil)
	agent.Expect("browser_click", args{"target": "#stop"}, "The page is paused")
	w.Allow(vscodeipc.AccessAsk)
	agent.Await("[access: ask]")
	const paused = "the page is paused in the debugger"
	agent.Refused("browser_click", args{"target": "#ask"}, paused)
	agent.Refused("browser_evaluate", args{"function": "1"}, paused)
	user.Do("Debugger.resume", nil)
	user.Do("Debugger.disable", nil)
	agent.Refused("browser_click", args{"target": save}, "is stale")
	agent.Refused("browser_click", args{"target": "#ask", "tab": 9}, "no tab 9 is open now")
	w.Show("", vscodeipc.AccessAsk)
	agent.Await("no browser")
	agent.Refused("browser_click", args{"target": "#ask"}, "has no browser now", "debug_start", "F5")
	if asked := w.Calls(vscodeipc.CommandPermissionAsk); len(asked) > 0 {
		t.Errorf("the user was asked %s", asked[0].Arg)
	}
}

// A click that the user allows is done in the window whose user was asked, also if another window fits
// better by then.
func TestConsentStaysInItsWindow(t *testing.T) {
	t.Parallel()
	w, _, user := sample(t)
	inner := filepath.Join(w.Folder, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	agent := toolstest.Start(t, options{Dir: inner})
	agent.Must("browser_snapshot", nil)
	w.Allow(vscodeipc.AccessAsk)
	agent.Await("[access: ask]")
	asking, decided := make(chan struct{}), make(chan struct{})
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		close(asking)
		<-decided
		return vscodeipc.AskResult{Decision: "allow"}, nil
	})
	clicked := make(chan error, 1)
	go func() {
		_, err := agent.Call("browser_click", clickGreet)
		clicked <- err
	}()
	<-asking
	toolstest.OpenWindowAt(t, inner, toolstest.Browser(t).URL()).Allow(vscodeipc.AccessView)
	agent.Await("* " + inner)
	close(decided)
	if err := <-clicked; err != nil {
		t.Errorf("a click that was allowed: %v", err)
	}
	if title := user.Evaluate("document.title"); !strings.Contains(title, "Hello") {
		t.Errorf("the window in which it was allowed shows %q", title)
	}
}

func TestUserStopsAgent(t *testing.T) {
	t.Parallel()
	w, agent, _ := sample(t)
	agent.Must("browser_snapshot", nil)
	me := toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool {
		return len(a.Clients) == 1
	}).Clients[0]
	if me.Name != "test-host" || me.Kind != "mcp" || me.ID == "" || time.Since(time.UnixMilli(me.Since)) > time.Minute {
		t.Errorf("announced as %+v", me)
	}
	waits := make(chan error, 1)
	go func() {
		_, err := agent.Call("browser_wait_for", args{"text": "never", "time": 20})
		waits <- err
	}()
	toolstest.Called(w, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool {
		return r.Entries[0].Act == "browser_snapshot"
	})
	w.Allow(vscodeipc.AccessFull, me.Name)
	if err := <-waits; err == nil || !strings.Contains(err.Error(), "stopped by the user") {
		t.Errorf("the call under way ends with %v", err)
	}
	agent.Refused("browser_snapshot", nil, "stopped by the user")
	w.Allow(vscodeipc.AccessFull)
	for _, err := agent.Call("browser_snapshot", nil); err != nil; _, err = agent.Call("browser_snapshot", nil) {
		if t.Context().Err() != nil || !strings.Contains(err.Error(), "stopped by the user") {
			t.Fatalf("the agent continues: %v", err)
		}
	}
}

func TestViewToolsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	ask, noted := make(chan struct{}), make(chan []string, 1)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ask":
			select {
			case <-ask:
			case <-r.Context().Done():
			}
		case "/noted":
			var notes []string
			if err := json.NewDecoder(r.Body).Decode(&notes); err != nil {
				t.Error(err)
			}
			noted <- notes
		default:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, notingPage)
		}
	})
	browser := toolstest.OwnBrowser(t, url) // its first page has the focus
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	w.Allow(vscodeipc.AccessView)
	first, second := w.Agent("devtools", "performance", "storage", "testing"), w.Agent()
	first.Must("browser_wait_for", args{"text": "Heading"})
	for _, agent := range []*toolstest.Agent{first, second} {
		expectAll(t, agent, []toolCall{
			{"browser_snapshot", nil, []string{"Heading"}},
			{"browser_snapshot", args{"target": "button"}, []string{"Buy"}},
			{"browser_find", args{"text": "Buy"}, []string{"Buy"}},
			{"browser_markdown", args{"target": "h1"}, []string{"Heading"}},
			{"browser_dom", args{"target": "button"}, []string{"<button>Buy</button>"}},
			{"browser_console_messages", args{"level": "debug"}, []string{"ready"}},
			{"browser_network_requests", args{"static": true}, []string{url}},
			{"browser_take_screenshot", nil, nil},
			{"browser_take_screenshot", args{"clip": "10,10,100,100"}, nil},
			{"browser_take_screenshot", args{"filename": "shot.png", "scale": "device"}, nil},
			{"browser_wait_for", args{"text": "Heading"}, nil},
			{"browser_tabs", args{"action": "list"}, []string{url}},
		})
		refuseAll(t, agent, []toolCall{
			{"browser_evaluate", args{"function": "() => document.title"}, []string{inView}},
			{"browser_wait_for", args{"expression": "true"}, []string{inView}},
			{"browser_click", args{"target": "button"}, []string{inView}},
			{"browser_navigate", args{"url": url}, []string{inView}},
			{"browser_tabs", args{"action": "new"}, []string{inView}},
			{"debug_evaluate", args{"expression": "1"}, []string{inView}},
			{"browser_take_screenshot", args{"target": "button"}, []string{inView}},
			{"browser_take_screenshot", args{"fullPage": true}, []string{inView}},
			{"browser_take_screenshot", args{"fullPage": true, "clip": "0,0,9,9"}, []string{inView}},
		})
	}
	expectAll(t, first, []toolCall{
		{"browser_generate_locator", args{"target": "button"}, nil},
		{"browser_inspect", args{"target": "button"}, []string{"Buy"}},
		{"browser_highlight", args{"target": "button"}, nil},
		{"browser_hide_highlight", nil, nil},
		{"browser_verify_text_visible", args{"text": "Buy"}, nil},
		{"browser_storage_state", nil, nil},
		{"performance_start_trace", nil, nil},
		{"performance_stop_trace", nil, nil},
	})
	if got := tabURLs(t, browser.URL()); !slices.Equal(got, []string{url + "/"}) {
		t.Errorf("the browser's pages are %q", got)
	}
	close(ask)
	select {
	case notes := <-noted:
		if len(notes) > 0 {
			t.Errorf("the page has noted %q", notes)
		}
	case <-time.After(time.Minute):
		t.Error("the page has not reported what it noted")
	}
}
