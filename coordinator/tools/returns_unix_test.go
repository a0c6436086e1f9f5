//go:build unix

package tools_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/tools"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// slow are calls that take as long as they may, with that time.
var slow = []struct {
	tool  string
	given args
	limit time.Duration
}{
	{"browser_click", args{"target": "#never"}, 15 * time.Second},
	{"browser_type", args{"target": "#field", "text": strings.Repeat("x", 20_000), "slowly": true}, 15 * time.Second},
	{"browser_fill_form", args{"fields": []args{
		{"target": "#field", "value": "x"}, {"target": "#never", "value": "y"},
	}}, 20 * time.Second},
	{"browser_drag", args{"startTarget": "#field", "endTarget": "#never"}, 20 * time.Second},
	{"browser_wait_for", args{"text": "never", "time": 5}, 5 * time.Second},
	{"browser_snapshot", nil, 10 * time.Second},
	{"browser_evaluate", args{"function": "() => new Promise(() => {})"}, 10 * time.Second},
	{"browser_take_screenshot", args{"fullPage": true}, 30 * time.Second},
	{"browser_navigate", args{"url": "/hangs"}, 30 * time.Second},
}

// situation is where the calls run.
type situation struct {
	browser *chrome.Browser
	line    *line // to the browser
	window  *toolstest.Window
	run     func(script string) // in all pages
}

func (s *situation) tabs(t *testing.T) (user *page.Browser, work []page.Info) {
	t.Helper()
	user = must.Get(page.Connect(t.Context(), s.browser.URL(), nil))(t)
	t.Cleanup(func() { user.Close() })
	return user, slices.DeleteFunc(must.Get(user.Pages(t.Context()))(t), func(tab page.Info) bool {
		return !strings.HasSuffix(tab.URL, "/work")
	})
}

// ends are what may happen while calls run.
var ends = map[string]func(*testing.T, situation){
	"the browser is killed": func(t *testing.T, s situation) {
		must.Do(t, syscall.Kill(-s.browser.PID(), syscall.SIGKILL))
	},
	"the browser stops": func(t *testing.T, s situation) {
		must.Do(t, syscall.Kill(-s.browser.PID(), syscall.SIGSTOP))
		t.Cleanup(func() { syscall.Kill(-s.browser.PID(), syscall.SIGCONT) })
	},
	"the connection ends": func(_ *testing.T, s situation) { s.line.cut() },
	"the tabs close": func(t *testing.T, s situation) {
		user, work := s.tabs(t)
		for _, tab := range work {
			must.Do(t, user.ClosePage(t.Context(), tab.ID))
		}
	},
	"the pages crash": func(t *testing.T, s situation) {
		_, work := s.tabs(t)
		user := must.Get(cdp.Dial(t.Context(), s.browser.URL(), nil))(t)
		t.Cleanup(func() { user.Close() })
		for _, tab := range work {
			session := must.Get(user.Attach(t.Context(), target.ID(tab.ID)))(t)
			must.Get(session.Start(t.Context(), cdppage.CommandCrash, nil))(t)
		}
	},
	"the pages run an endless script": func(_ *testing.T, s situation) { s.run("for (;;);") },
	"the pages run endless microtasks": func(_ *testing.T, s situation) {
		s.run("(function again() { Promise.resolve().then(again) })()")
	},
	"the window closes":      func(t *testing.T, s situation) { must.Do(t, s.window.Close(t.Context())) },
	"the debug session ends": func(_ *testing.T, s situation) { s.window.Show("", vscodeipc.AccessFull) },
	"the debug session restarts": func(t *testing.T, s situation) {
		s.window.Show(toolstest.Browser(t).URL(), vscodeipc.AccessFull)
	},
	"the user allows less": func(_ *testing.T, s situation) { s.window.Allow(vscodeipc.AccessView) },
	"the user takes over for a while": func(_ *testing.T, s situation) {
		s.window.TakeOver(true)
		s.window.TakeOver(false)
	},
}

// Every call returns within its time and five seconds more, whatever ends meanwhile.
func TestEveryCallReturns(t *testing.T) {
	names := longtest.Form(t, []string{"the browser is killed", "the connection ends", "the tabs close"},
		slices.Sorted(maps.Keys(ends)))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/hangs" {
					<-r.Context().Done()
					return
				}
				io.WriteString(w, `<!doctype html><title>Work</title><input id=field><p>`+strings.Repeat("Text ", 9_000)+
					`<script>new BroadcastChannel("run").onmessage = (e) => { setTimeout(e.data) }</script>`)
			})
			s := situation{browser: toolstest.OwnBrowser(t, "")}
			user := toolstest.Sit(t, s.browser.URL())
			user.Browse(url + "/users")
			s.run = func(script string) {
				user.Evaluate(fmt.Sprintf(`new BroadcastChannel("run").postMessage(%q)`, script))
			}
			s.line = newLine(t, s.browser.URL())
			s.window = toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), s.line.url)
			agents := make([]*toolstest.Agent, len(slow))
			for i := range slow {
				agents[i] = s.window.Agent()
				agents[i].Must("browser_tabs", args{"action": "new", "url": url + "/work"})
			}
			var calls sync.WaitGroup
			for i, call := range slow {
				calls.Go(func() {
					start := time.Now()
					_, err := agents[i].Call(call.tool, call.given)
					elapsed := time.Since(start)
					t.Logf("%s: %v after %v", call.tool, err, elapsed.Round(10*time.Millisecond))
					if elapsed > call.limit+5*time.Second {
						t.Errorf("%s took %v, more than %v", call.tool, elapsed, call.limit+5*time.Second)
					}
				})
			}
			ends[name](t, s)
			calls.Wait()
		})
	}
}

// hugePage has 100,000 buttons, a name of 5 MB, and elements that are nested 500 deep (the browser itself crashes from some thousands on), besides what the
// examples of the tools name.
const hugePage = `<!doctype html><title>Huge</title><h1>Cart</h1><button>Order</button><input aria-label=Coupon>
<label><input type=checkbox>News</label><select aria-label=Size><option>Small<option>Large</select><div id=deep></div>
<main><p>Tea</main><ul aria-label=Basket><li>Tea</ul><section aria-label=Attachments></section><button>Menu</button>
<script>
const buttons = document.createElement("div")
buttons.innerHTML = "<button>Buy</button>".repeat(100_000)
buttons.firstChild.ariaLabel = "x".repeat(5_000_000)
document.body.append(buttons)
let inner = document.querySelector("#deep")
for (let i = 0; i < 500; i++) inner = inner.appendChild(document.createElement("div"))
</script>`

// notOnPage are tools that wait for the user, with a time of their own, or go on after their answer.
var notOnPage = []string{"pick_element", "browser_record_user", "present_review", "browser_network_state_set"}

// Each tool returns in its time on a page that is far larger than any should be, and leaves it alone then.
func TestEveryToolOnAHugePage(t *testing.T) { // alone: a heap snapshot of it takes half a minute at rest
	longtest.Require(t)
	url := toolstest.ServeHTML(t, hugePage)
	agent := toolstest.OpenWindow(t).Agent(tools.CapNames()...)
	agent.Must("browser_navigate", args{"url": url})
	limits := map[string]time.Duration{
		"browser_audit": time.Minute, "performance_heap_snapshot": 2 * time.Minute, "performance_stop_trace": 2 * time.Minute,
	}
	for _, tool := range tools.All() {
		if tool.Local || slices.Contains(notOnPage, tool.Name) {
			continue
		}
		var given args
		must.Do(t, json.Unmarshal([]byte(tool.Example), &given))
		limit := cmp.Or(limits[tool.Name], 30*time.Second) + 5*time.Second
		start := time.Now()
		_, err := agent.Call(tool.Name, given)
		elapsed := time.Since(start)
		t.Logf("%s: %.100v after %v", tool.Name, err, elapsed.Round(10*time.Millisecond))
		if elapsed > limit {
			t.Errorf("%s took %v, more than %v", tool.Name, elapsed, limit)
		}
		start = time.Now()
		title := agent.Must("browser_evaluate", args{"function": "() => document.title"})
		// Nothing ends a heap snapshot that the browser has begun.
		if rest := time.Since(start); rest > 5*time.Second && tool.Name != "performance_heap_snapshot" {
			t.Errorf("after %s the page was busy for %v", tool.Name, rest)
		}
		if !strings.Contains(title, "Huge") { // it has left the page
			agent.Must("browser_navigate", args{"url": url})
		}
	}
}
