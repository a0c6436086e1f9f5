package tools_test

import (
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/cdpproxy/private"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// The user's tab stays in front, whatever the agent does in another tab. Only an agent
// that requests it brings its own tab to the front.
func TestNeverStealsFocus(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `<!doctype html><title>`+r.URL.Path+`</title>
<input id=i><button onclick="window.open('/popup')">Open</button>`)
	})
	w := toolstest.OpenWindow(t)
	user := w.Agent()
	user.Open(url + "/user")
	user.Close() // a page has one agent
	agent := w.Agent()
	expectAll(t, agent, []toolCall{
		{"browser_tabs", args{"action": "new", "url": url + "/agent"}, nil},
		{"browser_type", args{"target": "#i", "text": "words"}, nil},
		{"browser_press_key", args{"key": "Tab"}, nil},
		{"browser_hover", args{"target": "button"}, nil},
		{"browser_navigate", args{"action": "reload"}, nil},
		{"browser_emulate", args{"colorScheme": "dark"}, nil},
		{"browser_take_screenshot", nil, nil},
		{"browser_tabs", args{"action": "list"}, nil},
	})
	// The next client gets the tab in front.
	next := w.Agent()
	next.Expect("browser_snapshot", nil, "URL: "+url+"/user")
	next.Close()
	mine := ""
	for line := range strings.Lines(agent.Must("browser_tabs", args{"action": "list"})) {
		if strings.Contains(line, "(current)") {
			mine, _, _ = strings.Cut(line, ":")
		}
	}
	agent.Must("browser_tabs", args{"action": "select", "index": mine, "front": true})
	w.Agent().Expect("browser_snapshot", nil, "Another agent (test-host) works in the tab that the developer sees")

	// The agent may close a tab that its action opened.
	agent.Expect("browser_click", args{"target": "button"}, "A new tab opened")
	agent.SelectTab(func(line string) bool { return strings.Contains(line, "/popup") })
	agent.Must("browser_tabs", args{"action": "close"})
}

// When a tab closes by itself, as a login's tab does, the agent is notified. An action that
// may be meant for it is not done in another tab, and its refs are invalid there.
func TestTabThatClosesItself(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/login" {
			io.WriteString(w, `<!doctype html><title>Login</title><button>Harmless</button><button
  onclick="setTimeout(() => window.close(), 50)">Sign in</button>`)
			return
		}
		io.WriteString(w, `<!doctype html><title>Shop</title>
<button onclick="document.title='DELETED'">Delete everything</button><button
  onclick="window.open('/login')">Log in</button>`)
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	first := agent.Must("browser_snapshot", nil)
	deleting := toolstest.Ref(t, first, "button", "Delete everything")
	agent.Must("browser_click", args{"target": toolstest.Ref(t, first, "button", "Log in")})
	agent.SelectTab(func(line string) bool { return strings.Contains(line, "/login") })
	second := agent.Must("browser_snapshot", nil)
	harmless := toolstest.Ref(t, second, "button", "Harmless")
	if harmless == deleting {
		t.Errorf("%s is a ref in both tabs", harmless)
	}
	agent.Refused("browser_click", args{"target": deleting}, "of another tab")
	// On a busy machine the tab closes while the click still waits, otherwise at a key after it.
	text, err := agent.Call("browser_click", args{"target": toolstest.Ref(t, second, "button", "Sign in")})
	for tries := 0; !strings.Contains(text, "of this browser. You work in tab 0 now"); tries++ {
		if tries == 200 {
			t.Fatalf("the tab is still there: %s", text)
		}
		if err != nil && !strings.Contains(err.Error(), "was closed") {
			t.Fatal(err)
		}
		if err != nil && strings.Contains(err.Error(), `"Shop", `+url) {
			break // and not only that the page went during the call
		}
		text, err = agent.Call("browser_press_key", args{"key": "Shift"})
	}
	agent.Refused("browser_click", args{"target": harmless}, "gone")
	agent.ExpectValue("() => document.title", `"Shop"`)
}

// An agent drives a popup beside the tab that it works in. A popup that closes hands over to
// the tab that opened it.
func TestPopup(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/login" {
			io.WriteString(w, `<!doctype html><title>Login</title><input aria-label=User>
<button onclick="opener.document.title = 'Hello ' + document.querySelector('input').value; window.close()"
  >Allow</button><button onclick="setTimeout(() => window.close(), 50)">Later</button>`)
			return
		}
		io.WriteString(w, `<!doctype html><title>Shop</title><button onclick="window.open('/login')">Log in</button>`)
	})
	w := toolstest.OpenWindow(t)
	agent, other := w.Agent(), w.Agent()
	agent.Open(url)
	agent.Expect("browser_click", args{"target": "button"}, "A new tab opened: ", url+"/login (tab 1)")
	agent.Must("browser_type", args{"target": "input", "text": "Ann", "tab": 1})
	other.Must("browser_snapshot", args{"tab": 1})
	other.Refused("browser_type", args{"target": "input", "text": "Bob", "tab": 1},
		`another agent (test-host) works in the tab "Login"`)
	agent.ExpectValue("() => document.title", `"Shop"`) // it still works there
	toolstest.Called(w, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool {
		return slices.ContainsFunc(r.Entries, func(e vscodeipc.Activity) bool {
			return e.OK && e.Act == "browser_type" && e.URL == url+"/login"
		})
	})
	agent.Expect("browser_steps", args{"steps": []args{
		{"action": "click", "target": `button "Allow"`, "tab": 1},
		{"action": "expect", "expression": "document.title == 'Hello Ann'", "tab": 0},
	}}, `1. Clicked button "Allow".`, "The tab has closed since: by this", "2. Since the answer",
		`The page's title is now "Hello Ann".`, "It is so now.")
	agent.Refused("browser_snapshot", args{"tab": 1}, "no tab 1 is open now: the tabs are 0 (Hello Ann)")

	// No later tab gets the index of a closed one.
	agent.Expect("browser_click", args{"target": "button"}, "(tab 2)")
	agent.Must("browser_tabs", args{"action": "select", "index": 2})
	agent.Expect("browser_click", args{"target": `button "Allow"`},
		"The tab has closed since: by this, or by the user or another client of this browser. "+
			"You work in tab 0 now, which opened it.")
	agent.Expect("browser_click", args{"target": "button"}, "(tab 3)")
	agent.Must("browser_tabs", args{"action": "select", "index": 3})
	for text := agent.Must("browser_click", args{"target": `button "Later"`}); !strings.Contains(text,
		"ou work in tab 0 now, which opened it"); {
		text = agent.Must("browser_snapshot", nil)
	}
	agent.ExpectValue("() => document.title", `"Hello"`)
}

// Agents that look at one tab keep apart what they know of it: each has refs of its own and
// gets every change.
func TestAgentsKnowATabEachForItself(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, "<!doctype html><button onclick=\"out.textContent = 'Thanks'\">Buy</button><output "+
		"id=out></output>")
	w := toolstest.OpenWindow(t)
	first, second := w.Agent(), w.Agent()
	first.Open(url)
	theirs := second.Ref("button", "Buy")
	first.Expect("browser_click", args{"target": first.Ref("button", "Buy")}, "+ - status: Thanks")
	second.Expect("browser_wait_for", args{"text": "Thanks"}, "+ - status: Thanks")
	second.Expect("browser_snapshot", args{"target": theirs}, `button "Buy"`)
}

// An agent reads the tab in which another agent works, and does nothing else there: an
// error advises to open its own. Neither can select the other's. A tab that the first leaves is
// free.
func TestAgentsHaveTabsOfTheirOwn(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeSample(t)
	w := toolstest.OpenWindow(t)
	first, second := w.Agent(), w.Agent()
	first.Open(url + "/first")
	second.Expect("browser_snapshot", nil, "Another agent (test-host) works in the tab that the developer sees. You can read it",
		url+"/first")
	if text := second.Must("browser_snapshot", nil); strings.Contains(text, "Another agent") {
		t.Errorf("the reader is notified twice: %s", text)
	}
	for _, action := range []toolCall{
		{"browser_click", args{"target": "button"}, nil},
		{"browser_evaluate", args{"function": "() => document.title = 'Changed'"}, nil},
		{"browser_navigate", args{"action": "reload"}, nil},
		{"browser_emulate", args{"colorScheme": "dark"}, nil},
	} {
		second.Refused(action.tool, action.args, "another agent (test-host) works in the tab", "nothing was done",
			"browser_tabs, action new, url "+url+"/first")
	}
	if got := tabURLs(t, w.Browser()); len(got) != 1 {
		t.Errorf("after it was read, the browser's pages are %q", got)
	}
	first.ExpectValue("() => document.title", `"Sample"`)
	second.Expect("browser_navigate", args{"url": url + "/second"}, "Another agent (test-host) works", "a tab of your own")
	for agent, want := range map[*toolstest.Agent]string{first: url + "/first", second: url + "/second"} {
		agent.ExpectValue("() => location.href", strconv.Quote(want))
	}
	if got := tabURLs(t, w.Browser()); len(got) != 2 {
		t.Errorf("the browser's pages are %q", got)
	}
	for _, line := range strings.Split(second.Must("browser_tabs", args{"action": "list"}), "\n") {
		if !strings.HasSuffix(line, "/first") {
			continue
		}
		index, _, _ := strings.Cut(line, ":")
		choose := args{"action": "select", "index": index}
		second.Refused("browser_tabs", choose, "another agent (test-host) works")
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		second.Must("browser_tabs", choose)
		return
	}
	t.Error("the first agent's tab is not listed")
}

// The tabs that an agent has opened for itself end with its session, and those that were
// opened there. The user's tabs stay, and what the user's page has opened, and a tab that
// the user sees.
func TestTabsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><button onclick="window.open(location.pathname + '/popup')">Open</button>`)
	})
	w := toolstest.OpenWindow(t)
	user := toolstest.Sit(t, w.Browser())
	expect := func(condition string, want ...string) {
		t.Helper()
		got := tabURLs(t, w.Browser())
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s the tabs are %q, want %q", condition, got, want)
		}
	}
	agent := w.Agent()
	agent.Open(url + "/user")
	agent.Must("browser_click", args{"target": "button"})
	agent.Must("browser_tabs", args{"action": "new", "url": url + "/agent"})
	agent.Must("browser_click", args{"target": "button"})
	agent.Must("browser_tabs", args{"action": "new"})
	expect("before its end", "about:blank", url+"/agent", url+"/agent/popup", url+"/user", url+"/user/popup")
	user.Do("Page.bringToFront", nil)
	agent.Close()
	expect("after its end", url+"/user", url+"/user/popup")

	next := w.Agent()
	next.Must("browser_tabs", args{"action": "new", "url": url + "/behind"})
	next.Must("browser_tabs", args{"action": "new", "url": url + "/shown", "front": true})
	next.Close()
	expect("after the end of one that shows its tab", url+"/shown", url+"/user", url+"/user/popup")
}

// A page that was loaded before the coordinator watched it reports what it has loaded.
func TestHistoryOfAPageThatWasThere(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/data.json" {
			w.WriteHeader(http.StatusBadGateway)
		}
		io.WriteString(w, `<!doctype html>
<script>console.warn("long ago"); const done = fetch("/data.json").then((r) => r.text())</script>`)
	})
	w := toolstest.OpenWindow(t)
	user := toolstest.Sit(t, w.Browser())
	user.Browse(url)
	user.Evaluate("done")
	late := w.Agent()
	late.Expect("browser_console_messages", nil, "long ago")
	late.Expect("browser_network_requests", nil, "/data.json => 502", "GET "+url+"/ => 200")
}

// A tab that the page opens has its complete history from its first request on, also for
// an agent that selects it later.
func TestHistoryOfATabThatAnActionOpens(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, "document.title = 'Ready'")
		case "/order":
			io.WriteString(w, `<!doctype html><script>console.warn("logged early")</script><script src=/app.js></script>`)
		default:
			io.WriteString(w, `<!doctype html><a href=/order target=_blank>Order</a>`)
		}
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	agent.Expect("browser_click", args{"target": "a"}, url+"/order")
	agent.SelectTab(func(line string) bool { return strings.Contains(line, "/order") })
	agent.Must("browser_wait_for", args{"expression": "document.title === 'Ready'"})
	requests := agent.Must("browser_network_requests", args{"static": true})
	for _, want := range []string{"GET " + url + "/order => 200", "GET " + url + "/app.js => 200"} {
		if strings.Count(requests, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, requests)
		}
	}
	agent.Expect("browser_console_messages", nil, "logged early")
}

// A session's history begins with the browser, also when the agent calls its first tool
// later: its server watches the browser as soon as the window has one.
func TestHistoryBeginsWithTheBrowser(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/order" {
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, "cannot deliver "+string(body))
			return
		}
		io.WriteString(w, `<!doctype html><title>Talking</title><script>
console.error("logged early");
const request = new XMLHttpRequest();
request.open("POST", "/order", false);
request.send("three of them");
</script>`)
	})
	shop, browser := toolstest.Folder(t, "shop"), toolstest.Browser(t)
	agent, lines := watching(t, shop, nil)
	toolstest.OpenWindowAt(t, shop, browser.URL())
	other := toolstest.Folder(t, "other")
	toolstest.OpenWindowAt(t, other, toolstest.Browser(t).URL())
	awaitLine(t, lines, "watching the browser")
	user := toolstest.Sit(t, browser.URL())
	user.Browse(url)
	user.Browse(url + "/again")

	if text := agent.Must("browser_console_messages", args{"level": "error"}); strings.Count(text,
		"logged early") != 1 {
		t.Errorf("the console of the page:\n%s", text)
	}
	if text := agent.Must("browser_console_messages", args{"all": true}); strings.Count(text, "logged early") != 2 {
		t.Errorf("the whole console:\n%s", text)
	}
	list := agent.Must("browser_network_requests", args{"filter": "/order", "all": true})
	if strings.Count(list, "=> 409") != 2 {
		t.Fatalf("requests:\n%s", list)
	}
	index, _, _ := strings.Cut(list, ".")
	if body := agent.Must("browser_network_request",
		args{"index": number(t, index), "part": "response-body"}); body != "cannot deliver three of them" {
		t.Errorf("the body of the first order: %q", body)
	}

	// A call may name another window. Each window has its own page.
	agent.Expect("browser_snapshot", args{"window": other}, "URL: about:blank")
	agent.Refused("browser_snapshot", args{"window": "nowhere"}, "no window fits")
	agent.ExpectValue("() => document.title", `"Talking"`)
}

// In the user's own browser an agent asks the user for a tab, and works in the one that the user
// has chosen.
func TestRequestTab(t *testing.T) {
	t.Parallel()
	w, agent, _ := sample(t)
	agent.Refused("browser_tabs", args{"action": "request"}, "all tabs are in the list")
	state := vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessView},
		Browser: &vscodeipc.Browser{URL: w.Browser(), Via: string(launch.Personal)}}
	must.Do(t, w.SetState(state))
	agent.Await("[access: view]")
	agent.Expect("browser_tabs", args{"action": "list"}, "Action request asks the user")
	for outcome, want := range map[string]string{"refused": "hands over no tab", "timeout": "has not answered"} {
		w.Handle(vscodeipc.CommandTabRequest, func(vscodeipc.Call) (any, error) {
			return vscodeipc.TabRequestResult{Outcome: outcome}, nil
		})
		agent.Refused("browser_tabs", args{"action": "request"}, want)
	}
	var made struct {
		ID string `json:"targetId"`
	}
	cdptest.Dial(t, w.Browser()).Call("", "Target.createTarget", `{"url":"about:blank"}`, &made)
	w.Handle(vscodeipc.CommandTabRequest, func(vscodeipc.Call) (any, error) {
		return vscodeipc.TabRequestResult{Outcome: "handed-over", Tab: made.ID}, nil
	})
	agent.Expect("browser_tabs", args{"action": "request", "url": "https://shop.test"}, "1: ", "about:blank (current)")
	asked := toolstest.Called[vscodeipc.TabRequestArg](w, vscodeipc.CommandTabRequest, nil)
	if asked.Client.Name != "test-host" {
		t.Errorf("the user is asked %+v", asked)
	}
}

// In a tab that the user has handed over an agent goes back and forward, though nobody lists its history.
func TestBackInHandedOverTab(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>"+r.URL.Path+"</title>")
	})
	chrome := toolstest.Browser(t)
	part, own := cdptest.ServeOwn(t, chrome.URL())
	user := cdptest.Dial(t, chrome.URL())
	session := user.Attach(cdptest.HandOverTab(t, user, part, "about:blank"))
	user.Call(session, "Page.enable", "{}", nil)
	for _, path := range []string{"/one", "/two"} {
		user.Call(session, "Page.navigate", `{"url":"`+url+path+`"}`, nil)
		user.Event(session, "Page.loadEventFired", "")
	}
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), "")
	must.Do(t, w.SetState(vscodeipc.State{Access: vscodeipc.Access{Mode: vscodeipc.AccessFull},
		Browser: &vscodeipc.Browser{URL: own, Via: string(launch.Personal)}}))
	agent := w.Agent()
	agent.Expect("browser_snapshot", nil, "URL: "+url+"/two")
	agent.Refused("browser_navigate", args{"action": "forward"}, "there is no page to go forward to")
	agent.Expect("browser_navigate", args{"action": "back"}, "URL: "+url+"/one")
	agent.Expect("browser_navigate", args{"action": "forward"}, "URL: "+url+"/two")
}

// A tab that an agent has opened is never another agent's to it, though it comes to it by another window, with
// another address of the same browser, as that of the user's own Chrome has.
func TestOwnTabByAnotherWindow(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	chrome := toolstest.Browser(t)
	whole := must.Get(multiplex.Serve(cdptest.DialTransport(t, chrome.URL()), log))(t)
	t.Cleanup(whole.Close)
	shop, other := toolstest.Folder(t, "shop"), toolstest.Folder(t, "other")
	var w *toolstest.Window
	for _, folder := range []string{other, shop} {
		served := must.Get(private.Serve(whole, log))(t)
		t.Cleanup(served.Close)
		w = toolstest.OpenWindowAt(t, folder, served.URL())
	}
	agent := w.Agent()
	browser := cdptest.Dial(t, chrome.URL())
	var before struct {
		Infos []struct{ TargetID string } `json:"targetInfos"`
	}
	browser.Call("", "Target.getTargets", `{"filter":[{"type":"page"}]}`, &before)
	agent.Must("browser_tabs", args{"action": "new", "url": "data:text/html,<title>mine</title>"})
	for _, tab := range before.Infos {
		browser.Call("", "Target.closeTarget", `{"targetId":"`+tab.TargetID+`"}`, nil)
	}
	agent.Must("browser_press_key", args{"key": "a", "window": other})
	agent.Must("browser_press_key", args{"key": "a"})
	w.Agent().Refused("browser_press_key", args{"key": "a"}, "another agent (test-host) works in the tab")
}
