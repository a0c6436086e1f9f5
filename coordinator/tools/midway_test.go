package tools_test

import (
	"strings"
	"testing"

	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// mine is how many letters the agent's field has.
const mine = `document.querySelector("#mine").value.length`

// longText is typed for longer than the user takes to take over.
var longText = strings.Repeat("letters ", 80)

// typesSlowly has the agent type the long text, and returns once it has begun.
func typesSlowly(agent *toolstest.Agent, user *toolstest.User) (typed <-chan error) {
	result := make(chan error, 1)
	go func() {
		_, err := agent.Call("browser_type", args{"target": "#mine", "text": longText, "slowly": true})
		result <- err
	}()
	user.Await(mine + " > 3")
	return result
}

// rests is whether the agent's field stays as it is for half a second, which the page measures.
const rests = `new Promise((done) => { let since = performance.now(), before = ` + mine + `; const look = () => {
	const length = ` + mine + `, now = performance.now();
	if (length !== before) [since, before] = [now, length];
	if (now - since > 500) done(before); else requestAnimationFrame(look) }; look() })`

// Typing pauses between two keys when the user takes over, and goes on when the browser is given back. A field
// that the user has chosen meanwhile gets nothing.
func TestTypingPausesWhileUserHasTakenOver(t *testing.T) {
	t.Parallel()
	for name, chooses := range map[string]bool{"the same field": false, "another field": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, agent, user := twoFields(t)
			typed := typesSlowly(agent, user)
			w.TakeOver(true)
			if got := user.Evaluate(rests); got == "640" {
				t.Fatal("typing has ended: it is too fast for this test")
			}
			if chooses {
				user.Evaluate(`document.querySelector("#yours").focus()`)
			}
			w.TakeOver(false)
			err := <-typed
			switch {
			case chooses && (err == nil || !strings.Contains(err.Error(), "of 640 characters are typed") ||
				!strings.Contains(err.Error(), `textbox "Yours" has the focus now`)):
				t.Errorf("with another field: %v", err)
			case !chooses && err != nil:
				t.Error(err)
			}
			want := map[bool]string{false: `"|` + longText + `"`, true: `"|`}[chooses]
			if got := user.Evaluate(fields); !strings.HasPrefix(got, want) {
				t.Errorf("the fields have %.100s", got)
			}
		})
	}
}

// A button that the agent holds is released when the user takes over.
func TestHeldButtonIsReleasedWhenUserTakesOver(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	agent := w.Agent("vision")
	agent.Open(toolstest.ServeSample(t))
	user := toolstest.Sit(t, w.Browser())
	user.Evaluate(`addEventListener("mouseup", () => { released = true }), released = false`)
	agent.Must("browser_mouse_move_xy", args{"x": 200, "y": 200})
	agent.Must("browser_mouse_down", nil)
	w.TakeOver(true)
	user.Await("released")
}

// Who types while another client closes the tab gets an error that says how much was typed.
func TestTabIsClosedWhileTyping(t *testing.T) {
	t.Parallel()
	w, agent, user := twoFields(t)
	typed := typesSlowly(agent, user)
	closeTabs(t, w.Browser())
	err := <-typed
	if err == nil || !strings.Contains(err.Error(), "closed the tab") ||
		!strings.Contains(err.Error(), "of 640 characters are typed") {
		t.Errorf("typing ends with %v", err)
	}
}

// tabIDs are the tabs of a browser, which another client lists and closes.
func tabIDs(client *cdptest.Client) (ids []string) {
	var found struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	client.Call("", "Target.getTargets", "", &found)
	for _, info := range found.TargetInfos {
		if info.Type == "page" {
			ids = append(ids, info.TargetID)
		}
	}
	return ids
}

func closeTabs(t *testing.T, browser string) {
	t.Helper()
	client := cdptest.Dial(t, browser)
	for _, id := range tabIDs(client) {
		client.Call("", "Target.closeTarget", `{"targetId": "`+id+`"}`, nil)
	}
}

// A tab that closes when all of the text has been sent may have been closed by another: the answer says so.
func TestTabIsClosedAfterTyping(t *testing.T) {
	t.Parallel()
	w, agent, user := twoFields(t)
	user.Evaluate(`document.querySelector("#mine").oninput = () => { fetch("/hang"); typed = true }, typed = false`)
	answer := make(chan string, 1)
	go func() { answer <- agent.Must("browser_type", args{"target": "#mine", "text": "all of it"}) }()
	user.Await("typed")
	closeTabs(t, w.Browser())
	if text := <-answer; !strings.Contains(text, "Typed") || strings.Contains(text, "This closed") ||
		!strings.Contains(text, "by this, or by the user or another client of this browser") {
		t.Errorf("typing ends with %s", text)
	}
}

// Whatever ends slow typing, the error says how much was typed.
func TestTypingEndsEarly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		end        func(*toolstest.Window, *toolstest.User)
	}{
		{"the user stops the agent", "stopped", func(w *toolstest.Window, _ *toolstest.User) {
			w.Allow(vscodeipc.AccessFull, toolstest.Host.Name)
		}},
		{"the user allows less", "view", func(w *toolstest.Window, _ *toolstest.User) {
			w.Allow(vscodeipc.AccessView)
		}},
		{"the debugger", "paused in the debugger", func(_ *toolstest.Window, u *toolstest.User) {
			u.Do("Debugger.enable", nil)
			u.Do("Debugger.pause", nil)
		}},
		{"the time limit", "timed out after 15s", func(_ *toolstest.Window, u *toolstest.User) {
			u.Evaluate(`document.querySelector("#mine").onkeydown = () => {
				for (const end = performance.now() + 100; performance.now() < end;); }`)
		}},
		{"the page crashes", "crashed", func(_ *toolstest.Window, u *toolstest.User) {
			u.Do("Page.navigate", map[string]any{"url": "chrome://crash"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, agent, user := twoFields(t)
			typed := typesSlowly(agent, user)
			c.end(w, user)
			err := <-typed
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "of 640 characters are typed") {
				t.Errorf("typing ends with %v", err)
			}
		})
	}
}

// A dialog that another client answers first is answered once, and who is late is told so in words.
func TestDialogIsAnsweredByAnother(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindow(t)
	agent := w.Agent()
	agent.Open(toolstest.ServeHTML(t, `<title>Asks</title><button onclick="confirm('Sure?')">Ask</button>`))
	user := toolstest.Sit(t, w.Browser())
	user.Do("Page.enable", nil)
	for range 30 {
		agent.Expect("browser_click", args{"target": "button"}, "Sure?")
		answered := make(chan error, 1)
		go func() {
			answered <- user.Call(t.Context(), "Page.handleJavaScriptDialog", map[string]any{"accept": true}, nil)
		}()
		_, err := agent.Call("browser_handle_dialog", args{"accept": true})
		<-answered // one of the two is late
		if err != nil && !strings.Contains(err.Error(), "has answered the confirm dialog") &&
			!strings.Contains(err.Error(), "there is no dialog to answer") {
			t.Fatal(err)
		}
	}
}
