package partial_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/must"
)

// secret is in the name of a function and in an address of the user's own tab.
const secret = "s3cr3tOfTheBank"

// sharing is a browser in which a tab of a client and one of the user are in one process.
func sharing(t *testing.T) (u *user, c *cdptest.Client, session, users string) {
	t.Helper()
	u = startBehind(t, func(whole browser.Browser) browser.Browser { return whole }, "--renderer-process-limit=1")
	bank := u.open(u.site + "/bank?token=" + secret)
	c = cdptest.Dial(t, u.url)
	tab := opened(c, u.site+"/own")
	session, users = c.Attach(tab), u.Attach(bank)
	loaded(c, session)
	loaded(u.Client, users)
	const functions = `function %[1]s() { for (const end = Date.now() + 50; Date.now() < end;); return "%[1]s" }
		detached = document.createElement("div"); detached.className = "%[1]s";
		//# sourceURL=http://127.0.0.1/bank.js?token=%[1]s`
	u.Call(users, "Runtime.evaluate", fmt.Sprintf(`{"expression":%q}`, fmt.Sprintf(functions, secret)), nil)

	// What the user's own programs see in the client's tab shows that the process is shared.
	whole := u.Attach(tab)
	u.Call(whole, "Profiler.enable", "", nil)
	u.Call(whole, "Profiler.start", "", nil)
	u.Evaluate(users, secret+"()")
	if m := u.Try(whole, "Profiler.stop", ""); !strings.Contains(string(m.Result), secret) {
		t.Fatalf("the tabs are in two processes: %.300s", m.Result)
	}
	u.Call(whole, "Profiler.disable", "", nil)
	return u, c, session, users
}

// protocol is the whole of what this browser understands.
type protocol struct {
	Domains []struct {
		Domain   string
		Commands []struct {
			Name       string
			Parameters []struct {
				Name, Type string
				Optional   bool
				Enum       []string
			}
		}
	}
}

// TestOtherTabsOfTheProcess: no method shows a client a tab of the user that is in the process
// of the client's.
func TestOtherTabsOfTheProcess(t *testing.T) {
	u, c, session, users := sharing(t)
	for method, params := range map[string]string{
		"Profiler.start": "", "Profiler.startPreciseCoverage": `{"callCount":true}`, "Profiler.takePreciseCoverage": "",
		"Profiler.getBestEffortCoverage": "", "Profiler.stop": "", "Profiler.setSamplingInterval": `{"interval":100}`,
		"Performance.getMetrics": "", "Memory.getDOMCounters": "", "Memory.getAllTimeSamplingProfile": "",
		"Memory.startSampling": "", "Memory.simulatePressureNotification": `{"level":"critical"}`,
		"HeapProfiler.getSamplingProfile": "", "HeapProfiler.collectGarbage": "", "Tracing.start": "",
		"DOM.getDetachedDomNodes": "", "Runtime.getHeapUsage": "", "Runtime.getIsolateId": "",
		"Runtime.setMaxCallStackSizeToCapture": `{"size":1}`,
		"Emulation.setTimezoneOverride":        `{"timezoneId":"Asia/Tokyo"}`,
		"Emulation.setLocaleOverride":          `{"locale":"ja_JP"}`,
		"Emulation.setCPUThrottlingRate":       `{"rate":20}`,
		"Emulation.setVirtualTimePolicy":       `{"policy":"pause"}`,
		"Page.getSiblingSubApps":               "", "Network.enableReportingApi": `{"enable":true}`,
		"Page.setAdBlockingEnabled": `{"enabled":true}`, "Page.startScreenRecording": "", "Page.unknown": "",
	} {
		if m := c.Try(session, method, params); m.Error == nil {
			t.Errorf("%s: %.200s", method, m.Result)
		}
	}
	for _, domain := range []string{"Profiler", "HeapProfiler", "Performance", "Memory"} {
		if m := c.Try(session, domain+".enable", ""); m.Error != nil {
			t.Errorf("a client that enables %s: %v", domain, m.Error) // as several do when they connect
		}
	}

	var all protocol
	_, text := cdptest.Request(t, http.MethodGet, strings.Replace(u.chrome, "ws:", "http:", 1)+"/json/protocol")
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, d := range all.Domains {
		for _, command := range d.Commands {
			has[d.Domain+"."+command.Name] = true
		}
	}
	listed := must.Get(os.ReadFile("../../policy/ownpage.txt"))(t)
	domain := ""
	for _, word := range strings.Fields(regexp.MustCompile("(?m)#.*$").ReplaceAllString(string(listed), "")) {
		if name, isDomain := strings.CutSuffix(word, ":"); isDomain {
			domain = name
		} else if !has[domain+"."+word] {
			t.Errorf("this browser has no %s.%s", domain, word)
		}
	}

	var made struct{ Result struct{ ObjectID string } }
	c.Call(session, "Runtime.evaluate", `{"expression":"Object.prototype"}`, &made)
	ends := []string{ // the page, or the test's own commands
		"Page.close", "Page.crash", "Page.navigate", "Page.reload", "Page.waitForDebugger", "Page.setWebLifecycleState",
		"Debugger.pause", "Debugger.setInstrumentationBreakpoint", "Runtime.terminateExecution", "Target.detachFromTarget",
		"Emulation.setScriptExecutionDisabled", "Input.setIgnoreInputEvents", "Page.navigateToHistoryEntry",
		"Page.setDocumentContent", "Runtime.disable", "DOM.disable", "DOMDebugger.setInstrumentationBreakpoint",
		"EventBreakpoints.setInstrumentationBreakpoint", "DOMDebugger.setEventListenerBreakpoint",
		"DOMDebugger.setXHRBreakpoint", "Debugger.setPauseOnExceptions", "Page.stopScreencast", "Fetch.enable",
	}
	var tried []int
	for _, enabling := range []bool{true, false} {
		u.Evaluate(users, secret+"()")
		for _, d := range all.Domains {
			for _, command := range d.Commands {
				method := d.Domain + "." + command.Name
				if (command.Name == "enable") != enabling || command.Name == "disable" || slices.Contains(ends, method) {
					continue
				}
				params := map[string]any{}
				for _, p := range command.Parameters {
					switch {
					case strings.HasSuffix(p.Name, "bjectId"):
						params[p.Name] = made.Result.ObjectID
					case p.Optional:
					case len(p.Enum) > 0:
						params[p.Name] = p.Enum[0]
					default:
						params[p.Name] = map[string]any{"boolean": true, "integer": 1, "number": 1, "array": []any{},
							"string": "1", "object": map[string]any{}, "": "1"}[p.Type]
					}
				}
				encoded, err := json.Marshal(params)
				if err != nil {
					t.Fatal(err)
				}
				tried = append(tried, c.Start(session, method, string(encoded)))
			}
		}
	}
	c.Try(session, "Debugger.resume", "") // an error where it is not paused
	c.Call(session, "Runtime.evaluate", `{"expression":"1"}`, nil)
	if len(tried) < 500 {
		t.Errorf("only %d methods", len(tried))
	}
	for _, m := range c.Messages() {
		if text := string(m.Result) + string(m.Params); strings.Contains(text, secret) {
			t.Errorf("%s %d: %.400s", m.Method, m.ID, text)
		}
	}
}

// TestClipboard: no key, editing command or button puts the user's clipboard into a page of a
// client, or changes it.
func TestClipboard(t *testing.T) {
	u := start(t)
	bank := u.Attach(u.open(u.site + "/bank"))
	loaded(u.Client, bank)
	field := func(c *cdptest.Client, session, text string) {
		c.Call(session, "Page.bringToFront", "", nil)
		c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":%q}`, fmt.Sprintf(
			`document.body.innerHTML = "<textarea style='position:fixed;inset:0;width:300px;height:200px'>"; `+
				`field = document.querySelector("textarea"); field.value = %q; field.select(); field.focus()`, text)), nil)
	}
	// copied is what the clipboard has.
	copied := func() string {
		field(u.Client, bank, "")
		u.Call(bank, "Input.dispatchKeyEvent", `{"type":"rawKeyDown","commands":["paste"]}`, nil)
		return u.Evaluate(bank, "field.value")
	}
	field(u.Client, bank, secret)
	u.Call(bank, "Input.dispatchKeyEvent", `{"type":"rawKeyDown","commands":["copy"]}`, nil)
	if got := copied(); got != secret {
		t.Fatalf("the clipboard has %q", got)
	}

	c := cdptest.Dial(t, u.url)
	session := c.Attach(opened(c, u.site+"/own"))
	loaded(c, session)
	key := func(name, code string, number, modifiers int) string {
		return fmt.Sprintf(`{"type":"rawKeyDown","key":%q,"code":%q,"windowsVirtualKeyCode":%d,"modifiers":%d}`,
			name, code, number, modifiers)
	}
	for _, params := range []string{
		`{"type":"rawKeyDown","commands":["paste"]}`, `{"type":"keyDown","key":"a","commands":["selectAll","PASTE"]}`,
		`{"type":"rawKeyDown","commands":["pasteAndMatchStyle"]}`, `{"type":"rawKeyDown","commands":["Paste"]}`,
		`{"type":"rawKeyDown","commands":["pasteGlobalSelection"]}`, `{"type":"rawKeyDown","commands":["copy"]}`,
		`{"type":"rawKeyDown","commands":["cut"]}`, `{"type":"rawKeyDown","commands":["yank"]}`,
		`{"type":"rawKeyDown","commands":"paste"}`, `{"type":"keyUp","commands":["paste"]}`,
		key("v", "KeyV", 86, 2), key("V", "KeyV", 86, 10), key("v", "KeyV", 86, 4), key("", "", 86, 2), key("м", "KeyV", 86, 2),
		key("v", "Period", 0, 2), key("Insert", "Insert", 45, 8), key("Insert", "Insert", 45, 2), key("c", "KeyC", 67, 2),
		key("x", "KeyX", 88, 2), key("Delete", "Delete", 46, 8), key("v", "KeyV", 86, 3), key("Paste", "Paste", 0, 0),
		`{"type":"rawKeyDown","windowsVirtualKeyCode":86.0,"modifiers":2}`,
		`{"type":"rawKeyDown","windowsVirtualKeyCode":86,"modifiers":2.0}`,
		`{"type":"keyDown","windowsVirtualKeyCode":86,"modifiers":2,"text":"v","modifiers":0}`,
	} {
		field(c, session, "own")
		if m := c.Try(session, "Input.dispatchKeyEvent", params); m.Error == nil {
			t.Errorf("%s: %s", params, m.Result)
		}
		if got := c.Evaluate(session, "field.value"); got != "own" {
			t.Errorf("%s: the field has %q", params, got)
		}
	}
	if runtime.GOOS == "linux" {
		field(u.Client, bank, secret) // selected, so that it is what the middle button pastes
		field(c, session, "own")
		for _, kind := range []string{"mousePressed", "mouseReleased"} {
			c.Try(session, "Input.dispatchMouseEvent",
				fmt.Sprintf(`{"type":%q,"x":50,"y":50,"button":"middle","clickCount":1}`, kind))
		}
		if got := c.Evaluate(session, "field.value"); got != "own" {
			t.Errorf("the middle button: the field has %q", got)
		}
	}

	// Other keys work, and text that a client brings.
	field(c, session, "own")
	for _, params := range []string{key("a", "KeyA", 65, 2), key("Delete", "Delete", 46, 0),
		`{"type":"keyDown","key":"v","code":"KeyV","windowsVirtualKeyCode":86,"text":"v"}`,
		`{"type":"rawKeyDown","commands":["moveToBeginningOfDocument"]}`, key("ArrowRight", "ArrowRight", 39, 8)} {
		c.Call(session, "Input.dispatchKeyEvent", params, nil)
	}
	c.Call(session, "Input.insertText", `{"text":"pasted "}`, nil)
	c.Call(session, "Input.dispatchMouseEvent", `{"type":"mousePressed","x":50,"y":50,"button":"left"}`, nil)
	if got := c.Evaluate(session, "field.value"); got != "pasted " {
		t.Errorf("the field has %q", got)
	}
	if got := copied(); got != secret {
		t.Errorf("the clipboard has %q afterwards", got)
	}
}
