package tools_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// elsewhere is the same server as another site.
func elsewhere(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }

// askingShop is a window in the mode ask, which shows a shop with these pages besides those of a
// bank, and its agent. decide answers for its user.
func askingShop(t *testing.T, pages map[string]string, caps ...string) (
	url string, w *toolstest.Window, agent *toolstest.Agent, user *toolstest.User,
) {
	t.Helper()
	url = toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/sandboxed" {
			w.Header().Set("Content-Security-Policy", "sandbox allow-scripts")
		}
		html, ok := pages[r.URL.Path]
		if !ok {
			html = orderPage
		}
		io.WriteString(w, strings.ReplaceAll(html, "BANK", "http://"+strings.Replace(r.Host, "127.0.0.1", "localhost", 1)))
	})
	browser := toolstest.Browser(t)
	user = toolstest.Sit(t, browser.URL())
	w = toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	user.Browse(url)
	agent = w.Agent(caps...)
	agent.Must("browser_snapshot", nil)
	w.Allow(vscodeipc.AccessAsk)
	agent.Await("[access: ask]")
	return url, w, agent, user
}

// The user can allow more on the site of the question, which is what the browser reports as the
// origin of the document, and of that of the element. A call that reaches other sites, acts in no page
// or in a page without an origin of its own names none: then nothing that was allowed covers it.
func TestQuestionNamesTheSite(t *testing.T) {
	t.Parallel()
	url, w, agent, user := askingShop(t, map[string]string{
		"/framed": `<title>Framed</title><button>Here</button><iframe src="BANK/"></iframe>`,
		"/same":   `<title>Same</title><button>Here</button><iframe src="/"></iframe><iframe srcdoc="<p>here"></iframe>`,
	}, "network", "storage", "vision")
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "refuse", Reason: "human"}, nil
	})
	asked := 0
	origin := func(tool string, arguments args) string {
		t.Helper()
		agent.Refused(tool, arguments, "did not allow")
		calls := w.Calls(vscodeipc.CommandPermissionAsk)
		var arg vscodeipc.AskArg
		if asked++; len(calls) != asked {
			t.Fatalf("%d questions instead of %d", len(calls), asked)
		}
		must.Do(t, json.Unmarshal(calls[asked-1].Arg, &arg))
		return arg.Origin
	}
	evaluate := args{"function": "() => document.title"}
	inFrame := args{"target": "frameLocator('iframe[src]') >> form button"}
	point := args{"x": 9, "y": 9}
	for _, c := range []struct {
		page, tool string
		arguments  args
		want       string
	}{
		{"", "browser_click", args{"target": "form button"}, url},
		{"", "browser_click", args{"target": "#later"}, url}, // it is compared when it is there
		{"", "browser_evaluate", evaluate, url},
		{"", "browser_press_key", args{"key": "Tab"}, url},
		{"", "browser_mouse_click_xy", point, url},
		{"", "browser_navigate", args{"url": "/cart"}, url},
		{"", "browser_navigate", args{"action": "reload"}, url},
		{"", "browser_navigate", args{"url": elsewhere(url)}, ""},
		{"", "browser_navigate", args{"url": url + "@localhost/"}, ""}, // as a user's name
		{"", "browser_navigate", args{"url": "about:blank"}, ""},
		{"", "browser_tabs", args{"action": "new", "url": url + "/cart"}, url},
		{"", "browser_tabs", args{"action": "new", "url": elsewhere(url)}, ""},
		{"", "browser_tabs", args{"action": "select", "index": 0}, ""}, // it may be any
		{"", "browser_cookie_set", args{"name": "a", "value": "b", "domain": "bank.test"}, ""},
		{"", "browser_route", args{"pattern": "**/bank", "abort": "failed"}, ""},
		{"", "debug_evaluate", args{"expression": "1"}, ""},
		{"", "browser_emulate", args{"colorScheme": "dark"}, url},
		{"", "browser_emulate", args{"network": "offline"}, ""}, // the tab keeps it on other sites
		{url + "/framed", "browser_click", args{"target": "button >> nth=0"}, url},
		{"", "browser_click", inFrame, ""},
		{"", "browser_evaluate", args{"function": "(e) => e.click()", "target": inFrame["target"]}, ""},
		{"", "browser_evaluate", evaluate, url},
		{"", "browser_mouse_click_xy", point, ""}, // it may hit the frame
		{url + "/same", "browser_click", inFrame, url},
		{"", "browser_mouse_click_xy", point, url},
		{elsewhere(url), "browser_evaluate", evaluate, elsewhere(url)},
		{"", "browser_navigate", args{"action": "back"}, ""},
		{elsewhere(url) + "/cart", "browser_navigate", args{"action": "back"}, elsewhere(url)},
		{url + "/sandboxed", "browser_evaluate", evaluate, ""},
		{"data:text/html,<title>Shop</title>", "browser_evaluate", evaluate, ""},
		{"about:blank", "browser_evaluate", evaluate, ""},
	} {
		if c.page != "" {
			user.Browse(c.page)
			agent.Must("browser_snapshot", nil)
		}
		if got := origin(c.tool, c.arguments); got != c.want {
			t.Errorf("%s %v in %s: the origin is %q, want %q", c.tool, c.arguments, c.page, got, c.want)
		}
	}
	user.Browse(url) // a blank page that the shop opens has its origin, but not its address
	user.Do("Runtime.evaluate", map[string]any{"expression": "void open('about:blank')", "userGesture": true})
	agent.Must("browser_tabs", args{"action": "list"})
	if got := origin("browser_evaluate", args{"function": "() => origin", "tab": 1}); got != "" {
		t.Errorf("a blank page of the shop: the origin is %q", got)
	}
	if got := origin("browser_evaluate", args{"function": "() => origin", "tab": 0}); got != url {
		t.Errorf("the tab beside it: the origin is %q", got)
	}
}

// What is allowed is an action on the site of the question: if the page has gone elsewhere meanwhile,
// nothing is done there.
func TestConsentIsForTheSite(t *testing.T) {
	t.Parallel()
	here, w, agent, user := askingShop(t, nil, "vision")
	target := elsewhere(here)
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		user.Browse(target)
		return vscodeipc.AskResult{Decision: "allow", Reason: "grant", Covers: "*"}, nil
	})
	for _, c := range []toolCall{
		{"browser_evaluate", args{"function": "() => document.title = 'done'"}, nil},
		{"browser_click", args{"target": "form button"}, nil},
		{"browser_press_key", args{"key": "Enter"}, nil},
		{"browser_mouse_click_xy", args{"x": 9, "y": 9}, nil},
		{"browser_fetch", args{"url": "/"}, nil},
		{"browser_navigate", args{"url": here}, nil},
	} {
		user.Browse(here)
		agent.Must("browser_snapshot", nil)
		agent.Refused(c.tool, c.args, "the page has gone from "+here+" to "+elsewhere(here), "nothing was done",
			"call again")
		if title := user.Evaluate("document.title + location.origin"); title != `"Shop`+elsewhere(here)+`"` {
			t.Errorf("%s was done: %s", c.tool, title)
		}
	}
	target = elsewhere(here) + "/?again"
	agent.Must("browser_evaluate", args{"function": "() => document.title"}) // on the same site
}

// The browser keeps a script back while another document is on its way: it does nothing there.
func TestScriptStaysOnItsSite(t *testing.T) {
	t.Parallel()
	requested, release := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(release) })
	slow := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		requested <- struct{}{}
		<-release
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	t.Cleanup(end)
	here, w, agent, user := askingShop(t, nil)
	there := elsewhere(here)
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		user.Evaluate(fmt.Sprintf("void (location = '%s/?to=%s')", slow, there))
		<-requested
		return vscodeipc.AskResult{Decision: "allow", Reason: "grant", Covers: "*"}, nil
	})
	done := make(chan error, 1)
	go func() {
		_, err := agent.Call("browser_evaluate", args{"function": "() => document.title = 'done'"})
		done <- err
	}()
	toolstest.Called(w, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool {
		return len(a.Clients) > 0 && len(a.Clients[0].Running) > 0
	})
	end()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "gone to another site since this call was allowed") {
		t.Errorf("the script was run: %v", err)
	}
	user.Await("location.origin == '" + there + "'")
	if title := user.Evaluate("document.title"); title != `"Shop"` {
		t.Errorf("the script has changed the other site: %s", title)
	}
}

// A page that is leaving does not report what would get a key. Then no site is offered, and the user can
// allow the key once.
func TestKeyInLeavingPage(t *testing.T) {
	t.Parallel()
	requested, stopped, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	silent := toolstest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(requested)
		select {
		case <-r.Context().Done():
			close(stopped)
		case <-release:
		}
	})
	t.Cleanup(func() { close(release) })
	_, w, agent, user := askingShop(t, nil)
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "allow", Reason: "human"}, nil
	})
	agent.Must("browser_press_key", args{"key": "Tab"}) // the page's site is known from now on
	user.Evaluate("void (location = '" + silent + "')")
	<-requested
	agent.Must("browser_press_key", args{"key": "Escape"})
	<-stopped
	var arg vscodeipc.AskArg
	calls := w.Calls(vscodeipc.CommandPermissionAsk)
	must.Do(t, json.Unmarshal(calls[len(calls)-1].Arg, &arg))
	if arg.Origin != "" {
		t.Errorf("the question offers %s", arg.Origin)
	}
}

// An expression that is waited for, across documents, is evaluated on its site alone.
func TestExpressionStaysOnItsSite(t *testing.T) {
	t.Parallel()
	here, w, agent, user := askingShop(t, nil)
	there := elsewhere(here)
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		return vscodeipc.AskResult{Decision: "allow", Reason: "grant", Covers: "script"}, nil
	})
	const expression = "() => { document.title = 'done'; if (location.origin == '%s') location = '%s' }"
	agent.Refused("browser_wait_for", args{"expression": fmt.Sprintf(expression, here, there), "time": 3}, "")
	user.Await("location.origin == '" + there + "' && document.readyState == 'complete'")
	if title := user.Evaluate("document.title"); title != `"Shop"` {
		t.Errorf("the expression has changed the other site: %s", title)
	}
}

// An element that was not there when the user was asked may be one of another site.
func TestElementOfAnotherSite(t *testing.T) {
	t.Parallel()
	here, w, agent, user := askingShop(t, map[string]string{
		"/empty": `<title>Empty</title>`,
		"/pay":   `<title>Bank</title><button onclick="this.textContent = 'Paid'">Pay</button>`,
	})
	user.Browse(here + "/empty")
	agent.Must("browser_snapshot", nil)
	w.Handle(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) {
		user.Evaluate(`new Promise((done) => {
			document.body.innerHTML = '';
			const frame = document.createElement('iframe');
			frame.onload = () => done(0);
			frame.src = '` + elsewhere(here) + `/pay';
			document.body.append(frame);
		})`)
		return vscodeipc.AskResult{Decision: "allow", Reason: "grant", Covers: "*"}, nil
	})
	for _, c := range []toolCall{
		{"browser_click", args{"target": "button"}, nil},
		{"browser_evaluate", args{"function": "(e) => e.click()", "target": "button"}, nil},
	} {
		user.Browse(here + "/empty")
		agent.Must("browser_snapshot", nil)
		agent.Refused(c.tool, c.args, "allowed on "+here, "of another site", "call again")
		agent.Expect("browser_snapshot", nil, `button "Pay"`)
	}
}
