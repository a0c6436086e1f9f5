package tools_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// Who sets a size last has it. The agent whose size another client has replaced or ended learns it once, and
// can set it again.
func TestViewportReplaced(t *testing.T) {
	t.Parallel()
	site := toolstest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<title>Shop</title><meta name=viewport content="width=device-width"><button>Order</button>`)
	})
	browser := toolstest.Browser(t)
	user := toolstest.Sit(t, browser.URL())
	user.Browse(site)
	const sizes = "[innerWidth, innerHeight, devicePixelRatio].join()"
	window := strings.Trim(user.Evaluate(sizes), `"`)
	agent := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL()).Agent()
	const notice = "The viewport is now"
	quiet := func(tool string, arguments args) {
		t.Helper()
		if got := agent.Must(tool, arguments); strings.Contains(got, notice) {
			t.Errorf("%s: %s", tool, got)
		}
	}
	size := func(want string) {
		t.Helper()
		// The page is laid out after the browser has responded.
		must.Await(t, "the page's size "+want, func() bool { return user.Evaluate(sizes) == `"`+want+`"` })
	}
	replace := func(width, height int) {
		t.Helper()
		user.Do("Emulation.setDeviceMetricsOverride", map[string]any{
			"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
		})
	}
	replace(1000, 700) // the agent has set none
	quiet("browser_snapshot", nil)
	quiet("browser_emulate", args{"viewport": "390x844x3,mobile"})
	quiet("browser_click", args{"target": "button"})
	quiet("browser_take_screenshot", args{"target": "button"})
	size("390,844,3")
	replace(1200, 800)
	agent.Expect("browser_snapshot", nil, "The viewport is now 1200 × 800, no longer the 390 × 844 that was set.")
	quiet("browser_snapshot", nil)
	quiet("browser_emulate", args{"viewport": "390x844x3,mobile"}) // the same as before
	size("390,844,3")
	user.Do("Emulation.clearDeviceMetricsOverride", nil)
	size(window)
	want := strings.Replace(window, ",", " × ", 1)
	want = "The viewport is now " + want[:strings.Index(want, ",")] + ", no longer the 390 × 844 that was set."
	if got := agent.Must("browser_click", args{"target": "button"}); !strings.Contains(got, want) {
		t.Errorf("browser_click lacks %q: %s", want, got)
	}
	quiet("browser_click", args{"target": "button"})
}
