package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const mousePage = `<!doctype html><title>Mouse</title><style>body { height: 5000px; width: 5000px; margin: 0 } #pad { position: absolute; left: 300px; top: 100px }</style>
<button onclick="words.remove()">Remove</button> <p id=words>These words go</p>
<div id=card draggable=true style="position: absolute; left: 20px; top: 300px; width: 80px; height: 40px" ondragstart="event.dataTransfer.setData('text/plain', 'the card')">Card</div>
<div id=list style="position: absolute; left: 200px; top: 400px; width: 150px; height: 100px" ondragover="event.preventDefault()" ondrop="event.preventDefault(); document.title = 'dropped ' + event.dataTransfer.getData('text/plain')">List</div>
<canvas id=pad width=200 height=100></canvas>
<script>
window.seen = [];
for (const kind of ['mousemove', 'mousedown', 'mouseup']) pad.addEventListener(kind, e => {
  const last = [e.type, e.offsetX, e.offsetY, e.button, e.buttons].join(' ');
  if (seen.at(-1) !== last) seen.push(last);
});
</script>`

// All mouse actions of an agent, as the page sees them.
func TestMouse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, mousePage) }))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--caps", "vision")
	page := func(function, want string) {
		t.Helper()
		if got := mustTool(t, agent, "browser_evaluate", map[string]any{"function": function}); got != want {
			t.Errorf("the page says %s, want %s", got, want)
		}
	}
	// sees checks the mouse events that the page received since the last call.
	sees := func(want ...string) {
		t.Helper()
		page("() => seen.splice(0).join(', ')", fmt.Sprintf("%q", strings.Join(want, ", ")))
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL + "/one"})

	mustTool(t, agent, "browser_drag", map[string]any{"startTarget": "#card", "endTarget": "#list"})
	page("() => document.title", `"dropped the card"`)
	page("() => { document.title = '' }", "null")
	mustTool(t, agent, "browser_mouse_drag_xy", map[string]any{"startX": 40, "startY": 320, "endX": 250, "endY": 450})
	page("() => document.title", `"dropped the card"`)

	mustTool(t, agent, "browser_mouse_move_xy", map[string]any{"x": 310, "y": 120})
	sees("mousemove 10 20 0 0")
	mustTool(t, agent, "browser_mouse_down", nil)
	mustTool(t, agent, "browser_mouse_move_xy", map[string]any{"x": 350, "y": 150})
	sees("mousedown 10 20 0 1", "mousemove 50 50 0 1")
	mustTool(t, agent, "browser_mouse_up", nil)
	sees("mouseup 50 50 0 0")
	mustTool(t, agent, "browser_mouse_down", map[string]any{"button": "right"})
	mustTool(t, agent, "browser_mouse_up", map[string]any{"button": "right"})
	sees("mousedown 50 50 2 2", "mouseup 50 50 2 0")
	// A drag without drag and drop, as over a canvas or a slider.
	mustTool(t, agent, "browser_mouse_drag_xy", map[string]any{"startX": 320, "startY": 110, "endX": 400, "endY": 180})
	page(`() => { const all = seen.splice(0); return [all.find(e => e.startsWith('mousedown')), all.some(e => /^mousemove .* 1$/.test(e)), all.at(-1)].join(', ') }`, `"mousedown 20 10 0 1, true, mouseup 100 80 0 0"`)

	mustTool(t, agent, "browser_mouse_wheel", map[string]any{"deltaX": 150, "deltaY": 400})
	mustTool(t, agent, "browser_wait_for", map[string]any{"expression": "scrollX === 150 && scrollY === 400"})

	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL + "/two"})
	if got := mustTool(t, agent, "browser_navigate_back", nil); !strings.Contains(got, "URL: "+server.URL+"/one") {
		t.Errorf("back: %s", got)
	}

	mustTool(t, agent, "browser_wait_for", map[string]any{"text": "These words go"})
	if got, err := tool(t, agent, "browser_wait_for", map[string]any{"textGone": "These words go", "time": 0.2}); err == nil {
		t.Errorf("the words are gone while they are there: %s", got)
	}
	page("() => { setTimeout(() => words.remove(), 300) }", "null")
	mustTool(t, agent, "browser_wait_for", map[string]any{"textGone": "These words go"})
	page("() => document.querySelector('#words')", "null")
}

// The overrides of network, processor, browser, language and medium.
func TestEmulateTheRest(t *testing.T) {
	agents := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/seen" {
			agents <- r.UserAgent() + " " + r.Header.Get("Accept-Language")
		}
		io.WriteString(w, samplePage)
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop)
	emulate := func(args map[string]any) {
		t.Helper()
		mustTool(t, agent, "browser_emulate", args)
	}
	page := func(function, want string) {
		t.Helper()
		// The console message about a failed request comes after the result.
		if got := mustTool(t, agent, "browser_evaluate", map[string]any{"function": function}); !strings.HasPrefix(got, want) {
			t.Errorf("the page says %s, want %s", got, want)
		}
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})

	const connected = "() => fetch('/').then(() => navigator.onLine + ' fetched', () => navigator.onLine + ' failed')"
	emulate(map[string]any{"network": "offline"})
	page(connected, `"false failed"`)
	emulate(map[string]any{"network": "none"})
	page(connected, `"true fetched"`)
	// Its latency is 165 ms.
	emulate(map[string]any{"network": "fast 4g"})
	page("() => { const began = performance.now(); return fetch('/?slow').then(() => performance.now() - began >= 150) }", "true")
	emulate(map[string]any{"network": "none"})

	// The same work takes longer on a slower processor. The test measures it, since a
	// page cannot query the speed.
	const work = "() => { let best = 1e9; for (let n = 0; n < 5; n++) { const began = performance.now(); for (let i = 0, x = 0; i < 2e6; i++) x = Math.sqrt(x + i); best = Math.min(best, performance.now() - began) } return best }"
	measure := func() (ms float64) {
		t.Helper()
		if _, err := fmt.Sscan(mustTool(t, agent, "browser_evaluate", map[string]any{"function": work}), &ms); err != nil {
			t.Fatal(err)
		}
		return ms
	}
	// On a busy machine the first measurement may be slow too.
	var before, slow float64
	for range 5 {
		emulate(map[string]any{"cpu": 1})
		before = measure()
		emulate(map[string]any{"cpu": 10})
		if slow = measure(); slow >= 2*before {
			break
		}
	}
	if slow < 2*before {
		t.Errorf("ten times slower, the work takes %v ms instead of %v ms", slow, before)
	}
	emulate(map[string]any{"cpu": 1})

	emulate(map[string]any{"userAgent": "Agent/1", "locale": "de-DE", "timezone": "Asia/Tokyo", "media": "print"})
	page("() => [navigator.userAgent, navigator.language, (1.5).toLocaleString(), Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('print').matches].join(' ')", `"Agent/1 de-DE 1,5 Asia/Tokyo true"`)
	page("() => fetch('/seen').then(() => 1)", "1")
	if got := <-agents; !strings.HasPrefix(got, "Agent/1 de-DE") {
		t.Errorf("the server sees %s", got)
	}
	emulate(map[string]any{"media": "screen"})
	page("() => matchMedia('print').matches", "false")
	emulate(map[string]any{"reset": true})
	page("() => navigator.userAgent.includes('Agent/1') || Intl.DateTimeFormat().resolvedOptions().timeZone === 'Asia/Tokyo'", "false")
}
