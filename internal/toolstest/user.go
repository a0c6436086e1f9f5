package toolstest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
)

// User is another client of a window's browser, who works in its first page without the
// agent.
type User struct {
	*cdp.Session
	t testing.TB
}

// Sit connects to the first page of a browser.
func Sit(t testing.TB, endpoint string) *User {
	t.Helper()
	conn, err := cdp.Dial(t.Context(), endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	targets, err := protocol.Call(t.Context(), conn, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range targets.TargetInfos {
		if info.Type != "page" {
			continue
		}
		session, err := conn.Attach(t.Context(), info.TargetID)
		if err != nil {
			t.Fatal(err)
		}
		return &User{session, t}
	}
	t.Fatal("the browser has no page")
	return nil
}

// Do sends a command, which must succeed.
func (u *User) Do(method string, params map[string]any) {
	u.t.Helper()
	if err := u.Session.Call(u.t.Context(), method, params, nil); err != nil {
		u.t.Fatalf("%s: %v", method, err)
	}
}

// Browse navigates the page and waits for its load event.
func (u *User) Browse(url string) {
	u.t.Helper()
	loaded := u.Listen(cdppage.LoadEventFired.Method)
	defer loaded.Close()
	u.Do("Page.enable", nil)
	u.Do("Page.navigate", map[string]any{"url": url})
	select {
	case <-loaded.C():
	case <-u.t.Context().Done():
		u.t.Fatalf("%s was not loaded", url)
	}
}

// Evaluate runs a script in the page and returns its value as JSON.
func (u *User) Evaluate(expression string) string {
	u.t.Helper()
	r, err := protocol.Call(u.t.Context(), u.Session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, AwaitPromise: new(true), ReturnByValue: new(true),
	})
	if err != nil || r.ExceptionDetails != nil {
		u.t.Fatalf("%s: %+v %v", expression, r.ExceptionDetails, err)
	}
	return string(r.Result.Value)
}

// ClickButton clicks the page's button with input events, and not with a script in the
// page.
func (u *User) ClickButton() {
	var at struct{ X, Y float64 }
	where := u.Evaluate("(() => { const r = document.querySelector('button').getBoundingClientRect(); return { x: " +
		"r.x + 5, y: r.y + 5 } })()")
	if err := json.Unmarshal([]byte(where), &at); err != nil {
		u.t.Errorf("where the button is: %s: %v", where, err)
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		u.Do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left",
			"clickCount": 1})
	}
}

// SamplePage has a field, and a button that greets.
const SamplePage = `<!doctype html><title>Sample</title>
<label>Name <input id=name></label>
<button onclick="document.title='Hello '+document.querySelector('#name').value; console.log('greeted', document.querySelector('#name').value)">Greet</button>`

// ServeSample serves SamplePage.
func ServeSample(t testing.TB) (url string) {
	t.Helper()
	return ServeHTML(t, SamplePage)
}

// ServeHTML serves the HTML at every address.
func ServeHTML(t testing.TB, html string) (url string) {
	t.Helper()
	return Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, html)
	})
}

// Serve serves a site.
func Serve(t testing.TB, handler http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}
