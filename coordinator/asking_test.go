package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/vscodeipc"
)

// editor stands in for VS Code with the extension, which only the extension's end-to-end
// tests start. It answers the window's commands as a user would.
type editor struct {
	t       *testing.T
	folder  string
	server  *vscodeipc.Server
	browser *chrome.Browser

	mu      sync.Mutex // guards the fields that follow
	changed chan struct{}
	calls   []vscodeipc.Call
	answers map[string]func(vscodeipc.Call) (any, error)
}

func openEditor(t *testing.T, dir string) *editor {
	t.Helper()
	for _, v := range privateDirs(dir) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	folder, err := vscodeipc.Canonical(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	browser, err := chrome.Launch(t.Context(), chrome.Options{Executable: found.Path, Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { browser.Close(context.Background()) })
	sitAt(t, browser.URL()).browse(t, servePage(t))
	e := &editor{t: t, folder: folder, browser: browser, changed: make(chan struct{}), answers: map[string]func(vscodeipc.Call) (any, error){}}
	commands := map[string]vscodeipc.Handler{}
	for _, name := range []string{
		vscodeipc.CommandClientAnnounce, vscodeipc.CommandClientReport, vscodeipc.CommandPermissionAsk, vscodeipc.CommandPickStart,
		vscodeipc.CommandReviewPresent, vscodeipc.CommandEditorReveal, vscodeipc.CommandDebugStart, vscodeipc.CommandDebugState,
		vscodeipc.CommandDebugBreakpoints, vscodeipc.CommandDebugStep, vscodeipc.CommandDebugEvaluate, vscodeipc.CommandDebugStop,
	} {
		commands[name] = e.answer
	}
	e.server, err = vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
		Workspace: folder, Folders: []string{folder}, Kind: "vscode", Name: "stand-in", Version: "1", Commands: commands,
		NoDeadline: []string{vscodeipc.CommandPermissionAsk, vscodeipc.CommandPickStart, vscodeipc.CommandDebugStart, vscodeipc.CommandReviewPresent},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.server.Close(context.Background()) })
	e.allow(vscodeipc.AccessFull)
	return e
}

func (e *editor) allow(mode vscodeipc.AccessMode, stopped ...string) {
	e.t.Helper()
	if err := e.server.SetState(vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: e.browser.URL(), Via: "injected"},
		Access:  vscodeipc.Access{Mode: mode, Stopped: stopped},
	}); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) answer(ctx context.Context, c vscodeipc.Call) (any, error) {
	e.mu.Lock()
	e.calls = append(e.calls, c)
	close(e.changed)
	e.changed = make(chan struct{})
	answer := e.answers[c.Command]
	e.mu.Unlock()
	if answer == nil {
		return struct{}{}, nil
	}
	type outcome struct {
		result any
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := answer(c)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// on sets how the user answers a command.
func (e *editor) on(command string, answer func(vscodeipc.Call) (any, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answers[command] = answer
}

// asked waits for a call of a command whose argument fits, and returns that argument.
func asked[Arg any](e *editor, command string, fits func(Arg) bool) Arg {
	e.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		e.mu.Lock()
		changed := e.changed
		for _, c := range e.calls {
			var arg Arg
			if c.Command == command && json.Unmarshal(c.Arg, &arg) == nil && fits(arg) {
				e.mu.Unlock()
				return arg
			}
		}
		e.mu.Unlock()
		select {
		case <-changed:
		case <-limit:
			e.t.Fatalf("nobody called %s so: %+v", command, e.calls)
		}
	}
}

// until waits until the coordinator has received what the user chose.
func (e *editor) until(session *mcp.ClientSession, says string) {
	e.t.Helper()
	for limit := time.Now().Add(10 * time.Second); ; {
		list := mustTool(e.t, session, "window_list", nil)
		if strings.Contains(list, says) {
			return
		}
		if time.Now().After(limit) {
			e.t.Fatalf("no %q in %s", says, list)
		}
	}
}

func anyArg[Arg any](Arg) bool { return true }

func (e *editor) host() *mcp.ClientSession {
	e.t.Helper()
	return host(e.t, filepath.Dir(os.Getenv("XDG_DATA_HOME")), e.folder, "--no-launch")
}

func greetButton(t *testing.T, session *mcp.ClientSession) map[string]any {
	t.Helper()
	return map[string]any{"target": ref(t, mustTool(t, session, "browser_snapshot", nil), "button", "Greet"), "element": "the Greet button"}
}

func TestViewModeOnlyLooks(t *testing.T) {
	e := openEditor(t, t.TempDir())
	session := e.host()
	button := greetButton(t, session)
	e.allow(vscodeipc.AccessView)
	e.until(session, "[access: view]")
	_, err := tool(t, session, "browser_click", button)
	if err == nil || !strings.Contains(err.Error(), `"view"`) || !strings.Contains(err.Error(), "browserCoordinator.access") {
		t.Errorf("a click in view mode: %v", err)
	}
	if _, err := tool(t, session, "browser_fetch", map[string]any{"url": "/", "filename": "x"}); err == nil || !strings.Contains(err.Error(), `"view"`) {
		t.Errorf("a fetch into a file in view mode: %v", err)
	}
	mustTool(t, session, "browser_snapshot", nil)
	if text := mustTool(t, session, "browser_snapshot", map[string]any{"filename": "page"}); !strings.Contains(text, "Saved the snapshot to") {
		t.Errorf("a file in view mode: %s", text)
	}
	mustTool(t, session, "browser_tabs", map[string]any{"action": "list"})
	e.allow(vscodeipc.AccessFull)
	for _, err := tool(t, session, "browser_click", button); err != nil; _, err = tool(t, session, "browser_click", button) {
		if !strings.Contains(err.Error(), `"view"`) {
			t.Fatalf("a click in full mode: %v", err)
		}
	}
	asked(e, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool {
		for _, entry := range r.Entries {
			if entry.Act == "browser_click" && entry.OK && strings.Contains(entry.Target, "the Greet button") && strings.HasPrefix(entry.URL, "http://127.0.0.1") {
				return true
			}
		}
		return false
	})
}

func TestAskModeAsksTheUser(t *testing.T) {
	e := openEditor(t, t.TempDir())
	session := e.host()
	button := greetButton(t, session)
	e.allow(vscodeipc.AccessAsk)
	e.until(session, "[access: ask]")
	decision := vscodeipc.AskResult{Decision: "refuse", Scope: "once", Reason: "human"}
	e.on(vscodeipc.CommandPermissionAsk, func(vscodeipc.Call) (any, error) { return decision, nil })
	if _, err := tool(t, session, "browser_click", button); err == nil || !strings.Contains(err.Error(), "did not allow") {
		t.Errorf("a click that was refused: %v", err)
	}
	q := asked(e, vscodeipc.CommandPermissionAsk, anyArg[vscodeipc.AskArg])
	if q.Client.Name != "test-host" || q.Act != "browser_click" || !strings.Contains(q.Detail, "the Greet button") || q.Page == nil || q.Page.Title != "Sample" {
		t.Errorf("the question is %+v about %+v", q, q.Page)
	}
	decision = vscodeipc.AskResult{Decision: "allow", Scope: "session"}
	for range 2 {
		if _, err := tool(t, session, "browser_click", button); err != nil {
			t.Errorf("a click that was allowed: %v", err)
		}
	}
	e.mu.Lock()
	questions := 0
	for _, c := range e.calls {
		if c.Command == vscodeipc.CommandPermissionAsk {
			questions++
		}
	}
	e.mu.Unlock()
	if questions != 2 {
		t.Errorf("%d questions: what is allowed for the session is not asked again", questions)
	}
}

func TestTheUserStopsAnAgent(t *testing.T) {
	e := openEditor(t, t.TempDir())
	session := e.host()
	greetButton(t, session)
	me := asked(e, vscodeipc.CommandClientAnnounce, func(a vscodeipc.AnnounceArg) bool { return len(a.Clients) == 1 }).Clients[0]
	if me.Name != "test-host" || me.Kind != "mcp" || me.ID == "" || time.Since(time.UnixMilli(me.Since)) > time.Minute {
		t.Errorf("announced as %+v", me)
	}
	waits := make(chan error, 1)
	go func() {
		_, err := tool(t, session, "browser_wait_for", map[string]any{"text": "never", "time": 20})
		waits <- err
	}()
	asked(e, vscodeipc.CommandClientReport, func(r vscodeipc.ReportArg) bool { return r.Entries[0].Act == "browser_snapshot" })
	e.allow(vscodeipc.AccessFull, me.ID)
	if err := <-waits; err == nil || !strings.Contains(err.Error(), "stopped by the user") {
		t.Errorf("the call under way ends with %v", err)
	}
	if _, err := tool(t, session, "browser_snapshot", nil); err == nil || !strings.Contains(err.Error(), "stopped by the user") {
		t.Errorf("a stopped agent looks: %v", err)
	}
	e.allow(vscodeipc.AccessFull)
	for _, err := tool(t, session, "browser_snapshot", nil); err != nil; _, err = tool(t, session, "browser_snapshot", nil) {
		if t.Context().Err() != nil || !strings.Contains(err.Error(), "stopped by the user") {
			t.Fatalf("the agent goes on: %v", err)
		}
	}
}

func TestDebuggerTools(t *testing.T) {
	e := openEditor(t, t.TempDir())
	session := e.host()
	zero := 0
	frame := vscodeipc.StackFrame{ID: 7, Name: "addToCart", Path: filepath.Join(e.folder, "src", "cart.ts"), Line: 12, Column: 3}
	for command, result := range map[string]any{
		vscodeipc.CommandDebugStart: vscodeipc.DebugStartResult{Session: "s1", Name: "Launch shop"},
		vscodeipc.CommandDebugState: vscodeipc.DebugStateResult{Sessions: []vscodeipc.DebugSessionState{
			{ID: "s1", Name: "Launch shop", Type: "pwa-chrome", State: "running"},
			{
				ID: "s2", Name: "shop", Type: "pwa-chrome", State: "paused", Reason: "breakpoint", Thread: &zero,
				Frames: []vscodeipc.StackFrame{frame},
				Scopes: []vscodeipc.Scope{{Name: "Local", Variables: []vscodeipc.Variable{{Name: "count", Value: "3"}, {Name: "item", Value: "'loaf'"}}}},
			},
		}},
		vscodeipc.CommandDebugBreakpoints: vscodeipc.BreakpointsResult{Breakpoints: []vscodeipc.Breakpoint{{Path: frame.Path, Line: 12, Enabled: true, Condition: "count > 2"}}},
		vscodeipc.CommandDebugStep:        vscodeipc.StepResult{Session: "s2", Thread: &zero, State: "paused", Reason: "step", Frame: &frame},
		vscodeipc.CommandDebugEvaluate:    vscodeipc.DebugEvaluateResult{Result: "4", Type: "number"},
		vscodeipc.CommandReviewPresent:    vscodeipc.ReviewResult{Shown: true},
	} {
		e.on(command, func(vscodeipc.Call) (any, error) { return result, nil })
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		says []string
	}{
		{"debug_start", map[string]any{"configuration": "Launch shop"}, []string{"Launch shop", "session s1"}},
		{"debug_state", nil, []string{"Launch shop (session s1, pwa-chrome): running", "paused", "breakpoint", "addToCart src/cart.ts:12:3 [frame=7]", "Local: count = 3, item = 'loaf'"}},
		{"debug_breakpoints", map[string]any{"action": "set", "path": "src/cart.ts", "line": 12, "condition": "count > 2"}, []string{"- src/cart.ts:12 [if count > 2]"}},
		{"debug_step", map[string]any{"action": "over"}, []string{"Paused (step) at addToCart src/cart.ts:12:3"}},
		{"debug_evaluate", map[string]any{"expression": "count + 1", "frame": 7}, []string{"4"}},
		{"debug_stop", map[string]any{"session": "s1"}, []string{"ended"}},
		{"reveal_source", map[string]any{"path": "src/cart.ts", "line": 12}, []string{"sees"}},
		{"present_review", map[string]any{"markdown": "# Fine"}, []string{"sees"}},
	} {
		text := mustTool(t, session, c.tool, c.args)
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s says %q, without %q", c.tool, text, want)
			}
		}
	}
	for name, want := range map[string]string{
		"debug_start":       `{"name":"Launch shop","session":"s1"}`,
		"debug_state":       `"scopes":[{"name":"Local","variables":[{"name":"count","value":"3"}`,
		"debug_breakpoints": `"condition":"count > 2"`,
		"debug_step":        `"reason":"step","session":"s2","state":"paused","thread":0}`,
		"debug_evaluate":    `{"result":"4","type":"number"}`,
	} {
		args := map[string]map[string]any{"debug_breakpoints": {"action": "list"}, "debug_step": {"action": "over"}, "debug_evaluate": {"expression": "1"}}
		if got := structured(t, session, name, args[name]); !strings.Contains(got, want) || strings.Contains(got, "notes") {
			t.Errorf("%s: %s", name, got)
		}
	}
	started := asked(e, vscodeipc.CommandDebugStart, anyArg[vscodeipc.DebugStartArg])
	stopped := asked(e, vscodeipc.CommandDebugStop, anyArg[vscodeipc.DebugStopArg])
	if started.Client == nil || stopped.Client == nil || started.Client.ID != stopped.Client.ID {
		t.Errorf("started by %+v, stopped by %+v", started.Client, stopped.Client)
	}
	if b := asked(e, vscodeipc.CommandDebugBreakpoints, anyArg[vscodeipc.BreakpointsArg]); b.Action != "set" || b.Line != 12 || b.Condition != "count > 2" {
		t.Errorf("the breakpoint is %+v", b)
	}
	e.on(vscodeipc.CommandDebugStop, func(vscodeipc.Call) (any, error) {
		return nil, &vscodeipc.Error{Code: vscodeipc.CodeRefused, Message: "the user started that session"}
	})
	if _, err := tool(t, session, "debug_stop", map[string]any{"session": "s9"}); err == nil || !strings.Contains(err.Error(), "the user started") {
		t.Errorf("the user's session: %v", err)
	}
	e.allow(vscodeipc.AccessView)
	e.until(session, "[access: view]")
	if _, err := tool(t, session, "debug_step", map[string]any{"action": "continue"}); err == nil || !strings.Contains(err.Error(), `"view"`) {
		t.Errorf("a step in view mode: %v", err)
	}
	mustTool(t, session, "debug_breakpoints", map[string]any{"action": "list"})
}

func TestPickElementAsksInTheWindow(t *testing.T) {
	e := openEditor(t, t.TempDir())
	session := e.host()
	user := sitAt(t, e.browser.URL())
	e.on(vscodeipc.CommandPickStart, func(vscodeipc.Call) (any, error) { return vscodeipc.PickResult{Outcome: "cancelled"}, nil })
	_, err := tool(t, session, "pick_element", map[string]any{"message": "Which button?"})
	if err == nil || !strings.Contains(err.Error(), "did not want to") {
		t.Errorf("the user cancels: %v", err)
	}
	if q := asked(e, vscodeipc.CommandPickStart, anyArg[vscodeipc.PickArg]); q.Message != "Which button?" || q.Seconds != 60 || q.Client.Name != "test-host" {
		t.Errorf("the user is asked %+v", q)
	}
	// The user clicks in the page while the question is open.
	taken := make(chan struct{})
	e.on(vscodeipc.CommandPickStart, func(vscodeipc.Call) (any, error) {
		user.clickButton(t)
		<-taken
		return nil, nil
	})
	text := mustTool(t, session, "pick_element", nil)
	close(taken)
	for _, want := range []string{`button "Greet"`, "[ref=", "Selector: button", "Text: Greet"} {
		if !strings.Contains(text, want) {
			t.Errorf("picked, without %q:\n%s", want, text)
		}
	}
}

// clickButton clicks the page's button with input events, as a user does, and not with a
// script in the page.
func (d *developer) clickButton(t *testing.T) {
	session, err := d.conn.Attach(t.Context(), d.page)
	if err != nil {
		t.Error(err)
		return
	}
	where := "(() => { const r = document.querySelector('button').getBoundingClientRect(); return { x: r.x + 5, y: r.y + 5 } })()"
	r, err := protocol.Call(t.Context(), session, runtime.Evaluate, runtime.EvaluateParams{Expression: where, ReturnByValue: new(true)})
	if err != nil || r.Result == nil {
		t.Errorf("where the button is: %+v, %v", r, err)
		return
	}
	var at struct{ X, Y float64 }
	if err := json.Unmarshal(r.Result.Value, &at); err != nil {
		t.Errorf("where the button is: %s: %v", r.Result.Value, err)
		return
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		event := map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}
		if err := session.Call(t.Context(), "Input.dispatchMouseEvent", event, nil); err != nil {
			t.Error(err)
		}
	}
}
