package toolstest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	u.t.Helper()
	u.Click("button")
}

// Click clicks the first element of a selector, as ClickButton does.
func (u *User) Click(selector string) {
	u.t.Helper()
	u.click(u.placeOf(selector), 1, u.Do)
}

// StartClick is Click without waiting for its end: that of a dialog, for example.
func (u *User) StartClick(selector string) {
	u.t.Helper()
	u.click(u.placeOf(selector), 1, u.send)
}

// ClickTwice double-clicks it.
func (u *User) ClickTwice(selector string) {
	u.t.Helper()
	at := u.placeOf(selector)
	u.click(at, 1, u.Do)
	u.click(at, 2, u.Do)
}

// ClickIn clicks an element in a frame of the page's own process.
func (u *User) ClickIn(frame, selector string) {
	u.t.Helper()
	at, in := u.placeOf(frame), u.placeIn(fmt.Sprintf("document.querySelector(%q).contentDocument", frame), selector)
	u.click(point{at.X + in.X, at.Y + in.Y}, 1, u.Do)
}

type point struct{ X, Y float64 }

func (u *User) placeOf(selector string) point {
	u.t.Helper()
	return u.placeIn("document", selector)
}

// placeIn is a place in an element near its top left corner, which it scrolls into view.
func (u *User) placeIn(document, selector string) (at point) {
	u.t.Helper()
	text := u.Evaluate(fmt.Sprintf("(() => { const e = %s.querySelector(%q); e.scrollIntoView({ block: 'nearest' }); "+
		"const r = e.getBoundingClientRect(); return { x: r.x + 5, y: r.y + 5 } })()", document, selector))
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		u.t.Errorf("where %s is: %s: %v", selector, text, err)
	}
	return at
}

func (u *User) click(at point, count int, last func(method string, params map[string]any)) {
	u.t.Helper()
	do := u.Do
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		if kind == "mouseReleased" {
			do = last
		}
		do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left",
			"clickCount": count})
	}
}

// send sends a command without waiting for its response.
func (u *User) send(method string, params map[string]any) {
	u.t.Helper()
	if _, err := u.Session.Start(u.t.Context(), method, params); err != nil {
		u.t.Errorf("%s: %v", method, err)
	}
}

// Type types a text key by key into what has the focus.
func (u *User) Type(text string) {
	u.t.Helper()
	for _, c := range text {
		u.Do("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": string(c), "text": string(c)})
		u.Do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": string(c)})
	}
}

// keys are those of Press that do more than their names.
var keys = map[string]map[string]any{
	"Enter":     {"key": "Enter", "text": "\r", "windowsVirtualKeyCode": 13},
	"Space":     {"key": " ", "text": " ", "windowsVirtualKeyCode": 32},
	"Backspace": {"key": "Backspace", "windowsVirtualKeyCode": 8, "commands": []string{"deleteBackward"}},
}

// Press presses a key in what has the focus.
func (u *User) Press(code string) {
	u.t.Helper()
	params := map[string]any{"key": code}
	maps.Copy(params, keys[code])
	params["type"], params["code"] = "rawKeyDown", code
	if params["text"] != nil {
		params["type"] = "keyDown"
	}
	u.Do("Input.dispatchKeyEvent", params)
	params["type"] = "keyUp"
	delete(params, "text")
	delete(params, "commands")
	u.Do("Input.dispatchKeyEvent", params)
}

// ChooseFile chooses a new file of that name for a file input.
func (u *User) ChooseFile(selector, name string) {
	u.t.Helper()
	file := filepath.Join(u.t.TempDir(), name)
	if err := os.WriteFile(file, []byte("a file"), 0o600); err != nil {
		u.t.Error(err)
	}
	r, err := protocol.Call(u.t.Context(), u.Session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("document.querySelector(%q)", selector),
	})
	if err != nil || r.Result.ObjectID == "" {
		u.t.Fatalf("%s: %v", selector, err)
	}
	u.Do("DOM.setFileInputFiles", map[string]any{"files": []string{file}, "objectId": r.Result.ObjectID})
}

// Drag drags an element onto another.
func (u *User) Drag(from, to string) {
	u.t.Helper()
	u.mouse("mouseMoved", u.placeOf(from), 1)
	u.mouse("mousePressed", u.placeOf(from), 1)
	for range 3 {
		u.mouse("mouseMoved", u.placeOf(to), 1)
	}
	u.mouse("mouseReleased", u.placeOf(to), 1)
}

func (u *User) mouse(kind string, at point, buttons int) {
	u.t.Helper()
	u.Do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left",
		"buttons": buttons, "clickCount": 1})
}

// AnswerDialog answers the dialog that the page shows when open is called.
func (u *User) AnswerDialog(accept bool, open func()) {
	u.t.Helper()
	u.Do("Page.enable", nil)
	opening := u.Listen(cdppage.JavascriptDialogOpening.Method)
	defer opening.Close()
	open()
	select {
	case <-opening.C():
	case <-u.t.Context().Done():
		u.t.Error("no dialog was opened")
	}
	u.Do("Page.handleJavaScriptDialog", map[string]any{"accept": accept})
}

// Await waits until an expression is true in the page, whichever document it shows then.
func (u *User) Await(expression string) {
	u.t.Helper()
	for u.t.Context().Err() == nil {
		r, err := protocol.Call(u.t.Context(), u.Session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: "new Promise((done) => { const look = () => (" + expression + ") ? done(true) : " +
				"requestAnimationFrame(look); look(); })", AwaitPromise: new(true), ReturnByValue: new(true),
		})
		if err == nil && r.ExceptionDetails == nil {
			return
		}
	}
	u.t.Errorf("%s was never true", expression)
}

// SamplePage has a field, and a button that greets.
const SamplePage = `<!doctype html><title>Sample</title>
<label>Name <input id=name></label>
<button onclick="const name = document.querySelector('#name').value;
  document.title = 'Hello ' + name; console.log('greeted', name)">Greet</button>`

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
