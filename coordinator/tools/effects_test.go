package tools_test

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/internal/toolstest"
)

// An action's answer has its effects: requests that failed and errors, each once and
// with the page that they are of.
func TestAnswersHaveAfterEffects(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/order":
			w.WriteHeader(http.StatusInternalServerError)
		case "/slow":
			<-hold
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.Header().Set("Content-Security-Policy", "img-src 'none'")
			io.WriteString(w, `<!doctype html><title>Shop</title>
<button id=csp onclick="new Image().src = '/tea.png'">Picture</button><button id=order
  onclick="fetch('/api/order', {method: 'POST'}).then(() => fetch('/slow'))">Order</button>
<button id=fine>Fine</button><button id=late
  onclick="setTimeout(() => { throw new Error('too late') }, 600)">Late</button>
<button id=ask onclick="if (confirm('Sure?')) fetch('/done').then(() => alert('Deleted'))">Ask</button><button id=popup
  onclick="setTimeout(() => window.open('/popup'), 600)">Popup</button><a href="/next" onclick="null.x">Next</a>`)
		}
	})
	t.Cleanup(release)
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	ordered := agent.Expect("browser_click", args{"target": "#order"}, `Clicked button "Order".`,
		" failed: POST /api/order → 500", "No response yet: GET /slow")
	number, _ := strconv.Atoi(strings.TrimPrefix(regexp.MustCompile(`Request \d+`).FindString(ordered), "Request "))
	agent.Expect("browser_network_request", args{"index": number}, "/api/order", "500")
	if strings.Contains(ordered, "Failed to load") {
		t.Errorf("the failure is there twice:\n%s", ordered)
	}
	fine := func(description string) {
		t.Helper()
		if text := agent.Must("browser_click", args{"target": "#fine"}); text != `Clicked button "Fine".` {
			t.Errorf("after %s: %s", description, text)
		}
	}
	fine("a reported request")
	agent.Expect("browser_click", args{"target": "#csp"}, "/tea.png' violates the following Content Security Policy")
	agent.Expect("browser_network_requests", args{"failed": true}, "/tea.png => blocked by the browser (csp)")
	agent.Must("browser_click", args{"target": "#late"})
	for !strings.Contains(agent.Must("browser_console_messages", nil), "too late") {
	}
	fine("the agent has read the console")

	// What goes wrong after an answer is in the next one, whatever that is, marked as late.
	late := "Since the answer to your last action:"
	next := func(tool string, arguments args, want string) {
		t.Helper()
		text, end := "", time.Now().Add(30*time.Second)
		for !strings.Contains(text, late) && time.Now().Before(end) {
			text = agent.Must(tool, arguments)
		}
		if !strings.Contains(text, want) {
			t.Fatalf("no %s: %s", want, text)
		}
		if text := agent.Must(tool, arguments); strings.Contains(text, late) {
			t.Errorf("after %s: %s", want, text)
		}
		fine(want)
	}
	release()
	next("browser_find", args{"text": "Fine"}, " failed: GET /slow → 502")
	agent.Must("browser_click", args{"target": "#late"})
	next("browser_snapshot", nil, late+"[error] Uncaught Error: too late")
	agent.Must("browser_click", args{"target": "#popup"})
	next("browser_find", args{"text": "Fine"}, "A new tab opened: ")
	agent.Expect("browser_click", args{"target": "#ask"}, "Sure?")
	agent.Expect("browser_handle_dialog", args{"accept": true}, "Deleted")
	agent.Must("browser_handle_dialog", args{"accept": true})
	agent.Expect("browser_click", args{"target": "a"}, "URL: "+url+"/next", "TypeError", "(in "+url+"/)")
}

// A page that cannot be opened has its own address, not that of the browser's error page. The
// body of a response that the browser has blocked is not just empty.
func TestWhatTheBrowserKeepsBack(t *testing.T) {
	t.Parallel()
	url := toolstest.ServeHTML(t, `<!doctype html><title>Shop</title><script>
fetch("http://localhost:" + location.port + "/prices").catch(() => { document.title = "Blocked" })</script>`)
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	agent.Must("browser_wait_for", args{"expression": `document.title == "Blocked"`})
	list := agent.Must("browser_network_requests", nil)
	n, _, _ := strings.Cut(list[strings.LastIndex(list[:strings.Index(list, "/prices")], "\n")+1:], ".")
	agent.Expect("browser_network_request", args{"index": n},
		"response-body:\n(the browser keeps no body of a response that it has blocked")
	agent.Refused("browser_navigate", args{"url": "http://shop.invalid/tea"}, "the host name is unknown")
	agent.Expect("browser_snapshot", nil, "URL: http://shop.invalid/tea\n", "ERR_NAME_NOT_RESOLVED")
}

// What a content security policy blocks is named once, with the directive.
func TestBlockedByPolicyIsSaidOnce(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline'")
		io.WriteString(w, `<!doctype html><img src="http://127.0.0.2:1/a.png">
<button onclick="fetch('http://127.0.0.2:1/x').catch(() => {})">Go</button>`)
	})
	agent := toolstest.OpenWindow(t).Agent()
	for blocked, text := range map[string]string{
		"127.0.0.2:1/a.png": agent.Must("browser_navigate", args{"url": url}),
		"127.0.0.2:1/x":     agent.Must("browser_click", args{"target": "button"}),
	} {
		if strings.Count(text, blocked) != 1 || !strings.Contains(text, `directive: "default-src 'self'`) ||
			strings.Contains(text, "fallback") {
			t.Error(text)
		}
	}
}
