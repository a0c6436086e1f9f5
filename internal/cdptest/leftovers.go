package cdptest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// Leftovers is a page in which a client sets up what would go on without it: a script for
// new documents, a binding, a user agent, and an interception that holds requests. The
// page's user looks for them in the next document.
type Leftovers struct {
	t         testing.TB
	site      string
	user      *Client
	session   string // the user's
	client    *Client
	documents int
}

// NewLeftovers has the page of a user's own session, in the browser behind that client.
func NewLeftovers(t testing.TB, user *Client, target string) *Leftovers {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>the user's page</title>")
	}))
	t.Cleanup(site.Close)
	l := &Leftovers{t: t, site: site.URL, user: user, session: user.Attach(target)}
	user.Call(l.session, "Page.enable", "", nil)
	l.navigate()
	return l
}

// SetUp sets everything up for a client's session of the page, and checks that it has an
// effect.
func (l *Leftovers) SetUp(c *Client, session string) {
	l.t.Helper()
	l.client = c
	c.Call(session, "Runtime.enable", "", nil)
	c.Call(session, "Page.enable", "", nil)
	c.Call(session, "Page.addScriptToEvaluateOnNewDocument",
		`{"source":"window.leftScript = 1; window.leftBinding && leftBinding(location.href)"}`, nil)
	c.Call(session, "Runtime.addBinding", `{"name":"leftBinding"}`, nil)
	c.Call(session, "Emulation.setUserAgentOverride", `{"userAgent":"left behind"}`, nil)
	c.Call(session, "Fetch.enable", `{"patterns":[{"urlPattern":"*/held*"}]}`, nil)
	l.navigate()
	c.Event(session, "Runtime.bindingCalled", l.site)
	l.user.Evaluate(l.session, `void (window.pending = fetch("/held").then(() => "free")); 1`)
	c.Event(session, "Fetch.requestPaused", "/held")
	if got := l.list(); got != "script user-agent held" {
		l.t.Fatalf("a client has set up %q", got)
	}
}

// Closed waits for the close frame of that client, and returns its reason.
func (l *Leftovers) Closed() string {
	l.t.Helper()
	var closed websocket.CloseError
	if err := l.client.Ended(); !errors.As(err, &closed) || closed.Code != websocket.StatusPolicyViolation {
		l.t.Fatalf("the client ended with %v, want a close frame with 1008", err)
	}
	return closed.Reason
}

// AwaitRemoval waits until nothing is left: a held request goes on, and the user's next document
// has none of it.
func (l *Leftovers) AwaitRemoval() {
	l.t.Helper()
	const answered = `Promise.race([window.pending, new Promise(resolve => setTimeout(resolve, 20000, "held"))])`
	if got := l.user.Evaluate(l.session, answered); got != "free" {
		l.t.Errorf("a request that the client held is %s", got)
	}
	var got string
	for limit := time.Now().Add(Timeout); ; {
		l.navigate()
		if got = l.list(); got == "" {
			return
		}
		if time.Now().After(limit) {
			l.t.Fatalf("the user's next document has %q of the client that is gone", got)
		}
	}
}

// list names what the present document has.
func (l *Leftovers) list() string {
	l.t.Helper()
	const hold = `Promise.race([fetch("/held").then(() => ""), new Promise(resolve => setTimeout(resolve, 500, "held"))])`
	return strings.Join(strings.Fields(l.user.Evaluate(l.session, `(async () => [
		window.leftScript ? "script" : "",
		navigator.userAgent === "left behind" ? "user-agent" : "",
		await `+hold+`].join(" "))()`)), " ")
}

func (l *Leftovers) navigate() {
	l.t.Helper()
	l.documents++
	url := fmt.Sprintf("%s/%d", l.site, l.documents)
	loaded := l.user.Count(l.session, "Page.loadEventFired", "")
	l.user.Call(l.session, "Page.navigate", fmt.Sprintf(`{"url":%q}`, url), nil)
	l.user.EventN(l.session, "Page.loadEventFired", "", loaded+1)
}
