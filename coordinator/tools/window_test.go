package tools_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/pagetest"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// alone starts an agent where no window is, with its own browser.
func alone(t *testing.T, output string, caps ...string) (*toolstest.Agent, *launch.OnDemand) {
	t.Helper()
	find := func() (string, error) { return chrome.Find(chrome.FindOptions{}) }
	onDemand := launch.New(&launch.Chrome{Find: find,
		Options: chrome.Options{Headless: true, Viewport: "1280x900", Args: []string{"--disable-gpu"}}})
	t.Cleanup(func() {
		if err := onDemand.End(); err != nil {
			t.Error(err)
		}
	})
	return toolstest.Start(t, options{Dir: toolstest.Folder(t, "shop"), Launcher: onDemand, OutputDir: output}, caps...),
		onDemand
}

// The first result reports that the browser is the coordinator's own, even if the result
// is an error. A window that opens before any action there replaces that browser.
func TestWindowAppears(t *testing.T) {
	t.Parallel()
	agent, onDemand := alone(t, "")
	agent.Refused("browser_snapshot", args{"target": "e99"}, "e99", "own browser")
	if text := agent.Must("browser_snapshot", nil); strings.Contains(text, "of its own") {
		t.Errorf("reported twice: %s", text)
	}
	url, browser := toolstest.ServeSample(t), toolstest.Browser(t)
	toolstest.Sit(t, browser.URL()).Browse(url)
	toolstest.OpenWindowAt(t, agent.Dir, browser.URL())
	agent.Await("Chromium;")
	agent.Expect("browser_snapshot", nil, "URL: "+url)
	if onDemand.URL() != "" {
		t.Error("the browser of its own has not ended")
	}
}

// After an action in its own browser, the agent stays there and is notified once.
func TestWindowAppearsTooLate(t *testing.T) {
	t.Parallel()
	url, browser := toolstest.ServeSample(t), toolstest.Browser(t)
	agent, _ := alone(t, "")
	agent.Open(url + "/own")
	toolstest.Sit(t, browser.URL()).Browse(url + "/window")
	w := toolstest.OpenWindowAt(t, agent.Dir, browser.URL())
	agent.Await("Chromium;")
	agent.Expect("browser_snapshot", nil, url+"/own", "fits this workspace now")
	if text := agent.Must("browser_snapshot", nil); strings.Contains(text, "fits this workspace now") {
		t.Errorf("reported twice: %s", text)
	}
	agent.Expect("browser_snapshot", args{"window": w.Folder}, url+"/window")
	// The window's access mode still limits actions on the window.
	w.Allow(vscodeipc.AccessView)
	agent.Await("[access: view]")
	attached := toolstest.Start(t, options{Dir: w.Folder, Launcher: pagetest.Attached(t, browser.URL()),
		Attached: true})
	for _, each := range []*toolstest.Agent{agent, attached} {
		refuseAll(t, each, []toolCall{
			{"debug_evaluate", args{"expression": "1"}, []string{inView}},
			{"debug_step", args{"action": "continue"}, []string{inView}}, {"debug_start", nil, []string{inView}},
		})
	}
	agent.Evaluate("1") // its own browser asks no user
}

const inView = `refused: the access mode is "view"`

// The developer's window has no browser: no other browser is selected or launched, and
// the error names the user's next step.
func TestWindowWithoutBrowser(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), "")
	agent := w.Start(options{Launcher: launch.New(&launch.Chrome{})})
	agent.Refused("browser_snapshot", nil, "has no browser now", "debug_start", "F5")
	agent.Expect("window_list", nil, "no browser")
}

// A window of another editor says how its user starts a browser.
func TestOtherEditorWithoutBrowser(t *testing.T) {
	t.Parallel()
	for start, want := range map[string]string{
		"run :DebugStart": "has no browser now: run :DebugStart, then call again",
		"":                "start the program there that debugs a browser",
	} {
		folder := toolstest.Folder(t, "shop")
		window, err := vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
			Server:    vscodeipc.ServerInfo{Name: "nvim-cdp", Kind: "neovim", Start: start},
			Workspace: folder, Folders: []string{folder},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { window.Close(context.Background()) })
		toolstest.Start(t, options{Dir: folder}).Refused("browser_snapshot", nil, want)
	}
}

// Several windows fit equally well: the coordinator selects none and names both.
func TestSeveralWindows(t *testing.T) {
	t.Parallel()
	shop := toolstest.Folder(t, "shop")
	toolstest.OpenWindowAt(t, shop, "")
	agent := toolstest.OpenWindowAt(t, shop, "").Agent()
	_, err := agent.Call("browser_snapshot", nil)
	if err == nil || !strings.Contains(err.Error(), "several windows fit") || strings.Count(err.Error(), shop) < 2 ||
		!strings.Contains(err.Error(), "ipc-") {
		t.Errorf("%v", err)
	}
	agent.Expect("window_list", nil, "Several windows fit")
}

// A debug session that restarts ends its browser. A read-only call continues in the next
// browser. A mutating call is never executed twice, nor in a browser that the agent does not know.
func TestBrowserGoesAndComesBack(t *testing.T) {
	t.Parallel()
	var sent atomic.Int32
	questions := make(chan struct{}, 10)
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/order":
			sent.Add(1)
			questions <- struct{}{}
			<-r.Context().Done()
		case "/second":
			io.WriteString(w, "<title>Second</title>the second browser")
		default:
			io.WriteString(w, "<title>First</title><button onclick=\"fetch('/order')\">Order</button>")
		}
	})
	open := func(url string) *chrome.Browser {
		t.Helper()
		browser := toolstest.OwnBrowser(t, "")
		toolstest.Sit(t, browser.URL()).Browse(url)
		return browser
	}
	first := open(url)
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), first.URL())
	agent := w.Agent()
	agent.Must("browser_wait_for", args{"text": "Order"})
	begin := func(name string, a args) <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := agent.Call(name, a)
			ended <- err
		}()
		return ended
	}

	// An action in progress: the agent gets an error, and the action does not run again.
	ordered := begin("browser_evaluate", args{"function": "() => fetch('/order').then((r) => r.text())"})
	<-questions
	first.Close(t.Context())
	second := open(url)
	w.Show(second.URL(), vscodeipc.AccessFull)
	if err := <-ordered; err == nil || !strings.Contains(err.Error(), "may have been done") {
		t.Errorf("an action while the browser ends: %v", err)
	}
	if n := sent.Load(); n != 1 {
		t.Errorf("the action was done %d times", n)
	}

	// A read-only call continues in the next browser.
	agent.Must("browser_snapshot", nil)
	waited := begin("browser_wait_for", args{"text": "the second browser", "time": 20})
	third := open(url + "/second")
	second.Close(t.Context())
	w.Show(third.URL(), vscodeipc.AccessFull)
	if err := <-waited; err != nil {
		t.Errorf("reading while the browser is replaced: %v", err)
	}

	// An action that was not sent is not done in the next browser, before the agent knows of it.
	fourth := open(url)
	third.Close(t.Context())
	clicked := begin("browser_click", args{"target": "button"})
	w.Show(fourth.URL(), vscodeipc.AccessFull)
	if err := <-clicked; err == nil || !strings.Contains(err.Error(), ` there, "First", `+url) {
		t.Errorf("an action before the next browser is there: %v", err)
	}
	agent.Must("browser_click", args{"target": "button"})
	<-questions
	if n := sent.Load(); n != 2 {
		t.Errorf("the actions were done %d times", n)
	}

	// Without a next browser, the error names the next step.
	w.Show("", vscodeipc.AccessFull)
	agent.Await("no browser")
	agent.Refused("browser_snapshot", nil, "F5")
}

var clickGreet = args{"target": "button", "element": "the Greet button"}

// An action that the user allowed in one window does not run in another window, which
// opened while the user was asked.
func TestDebuggerTools(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), "")
	agent := w.Agent()
	zero := 0
	frame := vscodeipc.StackFrame{ID: 7, Name: "addToCart", Path: filepath.Join(w.Folder, "src", "cart.ts"), Line: 12,
		Column: 3}
	for command, result := range map[string]any{
		vscodeipc.CommandDebugStart: vscodeipc.DebugStartResult{Session: "s1", Name: "Launch shop"},
		vscodeipc.CommandDebugState: vscodeipc.DebugStateResult{Sessions: []vscodeipc.DebugSessionState{
			{ID: "s1", Name: "Launch shop", Type: "pwa-chrome", State: "running"},
			{
				ID: "s2", Name: "shop", Type: "pwa-chrome", State: "paused", Reason: "breakpoint", Thread: &zero,
				Frames: []vscodeipc.StackFrame{frame},
				Scopes: []vscodeipc.Scope{{Name: "Local",
					Variables: []vscodeipc.Variable{{Name: "count", Value: "3"}, {Name: "item", Value: "'loaf'"}}}},
			},
		}},
		vscodeipc.CommandDebugBreakpoints: vscodeipc.BreakpointsResult{Breakpoints: []vscodeipc.Breakpoint{{Path: frame.Path,
			Line: 12, Enabled: true, Condition: "count > 2", LogMessage: "now", HitCondition: "2"}}},
		vscodeipc.CommandDebugStep: vscodeipc.StepResult{Session: "s2", Thread: &zero, State: "paused",
			Reason: "step", Frame: &frame},
		vscodeipc.CommandDebugEvaluate: vscodeipc.DebugEvaluateResult{Result: "4", Type: "number"},
		vscodeipc.CommandReviewPresent: vscodeipc.ReviewResult{Displayed: true},
	} {
		w.Handle(command, func(vscodeipc.Call) (any, error) { return result, nil })
	}
	expectAll(t, agent, []toolCall{
		{"debug_start", args{"configuration": "Launch shop"}, []string{"Launch shop", "session s1"}},
		{"debug_state", nil, []string{"Launch shop (session s1, pwa-chrome): running", "paused", "breakpoint",
			"addToCart src/cart.ts:12:3 [frame=7]", "Local: count = 3, item = 'loaf'"}},
		{"debug_breakpoints", args{"action": "set", "path": "src/cart.ts", "line": 12, "condition": "count > 2"},
			[]string{"- src/cart.ts:12 [if count > 2] [log now] [hits 2]"}},
		{"debug_step", args{"action": "over"}, []string{"Paused (step) at addToCart src/cart.ts:12:3"}},
		{"debug_evaluate", args{"expression": "count + 1", "frame": 7}, []string{"4"}},
		{"debug_stop", args{"session": "s1"}, []string{"ended"}},
		{"reveal_source", args{"path": "src/cart.ts", "line": 12}, []string{"sees"}},
		{"present_review", args{"markdown": "# Fine"}, []string{"sees"}},
	})
	for _, c := range []toolCall{
		{"debug_start", nil, []string{`{"name":"Launch shop","session":"s1"}`}},
		{"debug_state", nil, []string{`"scopes":[{"name":"Local","variables":[{"name":"count","value":"3"}`}},
		{"debug_breakpoints", args{"action": "list"}, []string{`"condition":"count > 2"`}},
		{"debug_step", args{"action": "over"}, []string{`"reason":"step","session":"s2","state":"paused","thread":0}`}},
		{"debug_evaluate", args{"expression": "1"}, []string{`{"result":"4","type":"number"}`}},
	} {
		if got := structured(t, agent, c.tool, c.args); !strings.Contains(got, c.want[0]) ||
			strings.Contains(got, "notes") {
			t.Errorf("%s: %s", c.tool, got)
		}
	}
	started := toolstest.Called[vscodeipc.DebugStartArg](w, vscodeipc.CommandDebugStart, nil)
	stopped := toolstest.Called[vscodeipc.DebugStopArg](w, vscodeipc.CommandDebugStop, nil)
	if started.Client == nil || stopped.Client == nil || started.Client.ID != stopped.Client.ID {
		t.Errorf("started by %+v, stopped by %+v", started.Client, stopped.Client)
	}
	if b := toolstest.Called[vscodeipc.BreakpointsArg](w, vscodeipc.CommandDebugBreakpoints, nil); b.Client == nil ||
		b.Client.ID != started.Client.ID || b.Action != "set" || b.Line != 12 || b.Condition != "count > 2" {
		t.Errorf("the breakpoint is %+v", b)
	}
	w.Handle(vscodeipc.CommandDebugStop, func(vscodeipc.Call) (any, error) {
		return nil, &vscodeipc.Error{Code: vscodeipc.CodeRefused, Message: "the user started that session"}
	})
	w.Handle(vscodeipc.CommandDebugEvaluate, func(vscodeipc.Call) (any, error) {
		return nil, &vscodeipc.Error{Code: vscodeipc.CodeBadPayload,
			Message: "ReferenceError ReferenceError: cart is not defined"}
	})
	for _, c := range []toolCall{ // without the protocol's code
		{"debug_stop", args{"session": "s9"}, []string{"the user started that session"}},
		{"debug_evaluate", args{"expression": "cart"}, []string{"ReferenceError: cart is not defined"}},
	} {
		if _, err := agent.Call(c.tool, c.args); err == nil || err.Error() != c.want[0] {
			t.Errorf("%s: %v", c.tool, err)
		}
	}
	w.Allow(vscodeipc.AccessView)
	agent.Await("[access: view]")
	agent.Refused("debug_step", args{"action": "continue"}, inView)
	agent.Must("debug_breakpoints", args{"action": "list"})
}

func TestPickElementAsksInTheWindow(t *testing.T) {
	t.Parallel()
	w, agent, user := sample(t)
	w.Handle(vscodeipc.CommandPickStart, func(vscodeipc.Call) (any, error) {
		return vscodeipc.PickResult{Outcome: "cancelled"}, nil
	})
	agent.Refused("pick_element", args{"message": "Which button?"}, "declined to point")
	if q := toolstest.Called[vscodeipc.PickArg](w, vscodeipc.CommandPickStart, nil); q.Message != "Which button?" ||
		q.Seconds != 60 || q.Client.Name != "test-host" || q.Page == "" {
		t.Errorf("the user is asked %+v", q)
	}
	// The user clicks in the page while the question is open.
	picked := make(chan struct{})
	w.Handle(vscodeipc.CommandPickStart, func(vscodeipc.Call) (any, error) {
		user.ClickButton()
		<-picked
		return nil, nil
	})
	agent.Expect("pick_element", nil, `button "Greet"`, "[ref=", "Selector: button", "Text: Greet")
	close(picked)
}

// Nobody sees a headless browser that is not a window's, so nobody is asked to point at it.
func TestPickElementWhereNobodySees(t *testing.T) {
	t.Parallel()
	agent, _ := alone(t, "")
	start := time.Now()
	agent.Refused("pick_element", args{"timeout": 300}, "nobody can point", "headless", "browser_snapshot")
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

// notingPage records every access to it in its own world, and what its user or a debugger
// could do to it. It reports its records when /ask is answered.
const notingPage = `<!doctype html><title>Noted</title><h1>Loading</h1><iframe srcdoc="<p>Inner</p>"></iframe>
<div style="height: 5000px"></div><button>Buy</button><input value="typed">
<script>
localStorage.setItem("key", "value");
console.log("ready");
const seen = [];
const drawn = new Promise((done) => addEventListener("load", () => requestAnimationFrame(() => setTimeout(done))));
drawn.then(() => {
	document.querySelector("h1").textContent = "Heading";
	for (const [of, name] of [[window, "devicePixelRatio"], [document, "visibilityState"], [document, "title"]]) {
		const value = of[name];
		Object.defineProperty(of, name, { get() { seen.push(name); return value; } });
	}
	const watcher = new MutationObserver((all) => all.forEach((m) => seen.push(m.type)));
	watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
	for (const name of ["scroll", "scrollend", "resize", "focus", "blur", "focusin", "visibilitychange",
			"pageshow", "pagehide", "beforeprint", "storage"])
		addEventListener(name, (e) => seen.push(name), true);
	const size = new ResizeObserver(() => { if (size.first) seen.push("observed size"); size.first = true });
	size.observe(document.documentElement);
	fetch("/ask").then(() => {
		if (navigator.userActivation.hasBeenActive) seen.push("user activation");
		if (scrollY) seen.push("scrolled");
		fetch("/noted", { method: "POST", body: JSON.stringify(seen) });
	});
});
</script>`

// Where agents may only read, the read-only tools work for each of them on the page that
// the user sees. The page notices nothing: nothing runs in it, and nothing scrolls,
// resizes or focuses it. An agent's code is refused, and no tab is opened.
