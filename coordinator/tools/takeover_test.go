package tools_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// A key may come so late on a busy machine that the agent's input has begun. So the page measures how long the
// user had rested by then.
const formOfTwo = `<title>Order</title><label>Yours <input id=yours></label><label>Mine <input id=mine></label><script>
const presses = []; // by the user, until the agent's input begins
let began;
addEventListener("keydown", ({ timeStamp }) => { if (began === undefined) presses.push(timeStamp); }, true);
mine.addEventListener("focus", ({ timeStamp }) => began ??= timeStamp);
// A key may come while the input begins: then the rest before it counts.
const rest = ([last, previous = last] = presses.toReversed()) => Math.max(began - last, last - previous);
</script>`

// rested reports whether the user had rested when the agent's input began.
func rested(user *toolstest.User) bool { return user.Evaluate("rest() >= 999") == "true" }

// twoFields opens a page in which the user and an agent each have a field.
func twoFields(t *testing.T) (*toolstest.Window, *toolstest.Agent, *toolstest.User) {
	t.Helper()
	site := toolstest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, formOfTwo)
	})
	browser := toolstest.Browser(t)
	user := toolstest.Sit(t, browser.URL())
	user.Browse(site)
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	agent := w.Agent()
	agent.Must("browser_snapshot", nil)
	return w, agent, user
}

// While the user types without taking over, the agent's input waits until the user rests.
func TestInputWaitsWhileUserTypes(t *testing.T) {
	t.Parallel()
	_, agent, user := twoFields(t)
	types(user, "#yours", "f")
	typed := make(chan string, 1)
	go func() { typed <- agent.Must("browser_type", args{"target": "#mine", "text": "from the agent"}) }()
	types(user, "#yours", "rom the user")
	<-typed
	if !rested(user) {
		t.Errorf("the agent's input begins after %s ms", user.Evaluate("rest()"))
	}
	if keys := user.Evaluate("presses.length"); keys != "13" {
		t.Logf("the user has rested after %s keys: this machine is slow", keys)
	} else if got := user.Evaluate(fields); got != `"from the user|from the agent"` {
		t.Errorf("the fields have %s", got)
	}
	agent.Expect("browser_click", args{"target": "#mine"}, "Clicked") // its own input is none of the user's
}

// A user who never rests does not block the agent for good.
func TestUserNeverRests(t *testing.T) {
	t.Parallel()
	_, agent, user := twoFields(t)
	types(user, "#yours", "a")
	clicked := make(chan struct{})
	go func() {
		defer close(clicked)
		agent.Must("browser_click", args{"target": "#mine"})
	}()
	pressUntil(user, clicked)
}

// pressUntil has the user press a key again and again until the channel has something.
func pressUntil[T any](user *toolstest.User, done <-chan T) T {
	for {
		select {
		case v := <-done:
			return v
		case <-time.After(50 * time.Millisecond):
			user.Do("Input.dispatchKeyEvent", map[string]any{"type": "rawKeyDown", "key": "Shift"})
		}
	}
}

// types types a text in a field of the page.
func types(user *toolstest.User, field, text string) {
	user.Evaluate(`document.querySelector("` + field + `").focus()`)
	for _, c := range text {
		for _, kind := range []string{"keyDown", "keyUp"} {
			event := map[string]any{"type": kind, "key": string(c)}
			if kind == "keyDown" {
				event["text"] = string(c)
			}
			user.Do("Input.dispatchKeyEvent", event)
		}
	}
}

const fields = `document.querySelector("#yours").value + "|" + document.querySelector("#mine").value`

// While the user has taken over, an agent reads, and its action waits. Then it goes on, and is
// notified that the page may have changed, and how.
func TestActionsWaitWhileUserHasTakenOver(t *testing.T) {
	t.Parallel()
	w, agent, user := twoFields(t)
	w.TakeOver(true)
	agent.Await("[the user has taken over]")
	typed := make(chan string, 1)
	go func() {
		typed <- agent.Must("browser_type", args{"target": "#mine", "text": "from the agent"})
	}()
	types(user, "#yours", "from the user")
	agent.Expect("browser_snapshot", nil, "from the user")
	if got := user.Evaluate(fields); got != `"from the user|"` {
		t.Errorf("the fields have %s while the user has taken over", got)
	}
	user.Evaluate(`document.title = "Changed by the user"`)
	w.TakeOver(false)
	if answer := <-typed; !strings.Contains(answer, "The user took over the browser and has given it back") {
		t.Errorf("the agent is not notified: %s", answer)
	}
	if got := user.Evaluate(fields); got != `"from the user|from the agent"` {
		t.Errorf("the fields have %s", got)
	}
	if again := agent.Must("browser_snapshot", nil); strings.Contains(again, "taken over") {
		t.Errorf("it is notified again: %s", again)
	}
}

// An action that waits for the user to rest does not begin if the user takes over meanwhile.
func TestUserTakesOverWhileInputWaits(t *testing.T) {
	t.Parallel()
	for takesOverTooLate(t) {
		t.Log("the user had rested before: this machine is slow")
	}
}

func takesOverTooLate(t *testing.T) bool {
	t.Helper()
	w, agent, user := twoFields(t)
	types(user, "#yours", "f")
	typed := make(chan error, 1)
	go func() {
		_, err := agent.Call("browser_type", args{"target": "#mine", "text": "from the agent"})
		typed <- err
	}()
	types(user, "#yours", "rom the user, who types on until the agent waits")
	w.TakeOver(true)
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		agent.Await("[the user has taken over]")
	}()
	pressUntil(user, taken)
	isTooLate := rested(user)
	err := <-typed
	if isTooLate {
		return true
	}
	if err == nil || !strings.Contains(err.Error(), "the user has taken over the browser") {
		t.Errorf("typing ends with %v", err)
	}
	if got := user.Evaluate("document.querySelector('#mine').value"); got != `""` {
		t.Errorf("the agent has typed %s", got)
	}
	return false
}

// An agent that has not acted meanwhile is notified too, by its next answer, which has what the
// user has changed.
func TestAgentGetsWhatUserHasChanged(t *testing.T) {
	t.Parallel()
	w, agent, user := twoFields(t)
	agent.Must("browser_type", args{"target": "#mine", "text": "one"})
	w.TakeOver(true)
	agent.Await("[the user has taken over]")
	user.Evaluate(`document.body.append(Object.assign(document.createElement("p"), { textContent: "Sold out" }))`)
	w.TakeOver(false)
	agent.Expect("browser_type", args{"target": "#mine", "text": "two"}, "has given it back", "Sold out")
}

// An action waits no longer than a call may take. It is refused then, and nothing is done.
func TestUserDoesNotGiveBack(t *testing.T) {
	t.Parallel()
	w, agent, user := twoFields(t)
	w.TakeOver(true)
	agent.Await("[the user has taken over]")
	agent.Refused("browser_type", args{"target": "#mine", "text": "from the agent"},
		"browser_type refused: the user has taken over the browser", "You can read on")
	if got := user.Evaluate(fields); got != `"|"` {
		t.Errorf("the fields have %s", got)
	}
	agent.Must("browser_snapshot", nil)
}

// Whom the user stops meanwhile does not go on, and nobody is asked while the user has taken over.
func TestStoppedWhileUserHasTakenOver(t *testing.T) {
	t.Parallel()
	w, agent, _ := twoFields(t)
	taken := vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: w.Browser(), Product: "Chromium", Via: "injected"},
		Access:  vscodeipc.Access{Mode: vscodeipc.AccessAsk, TakenOver: true},
	}
	if err := w.SetState(taken); err != nil {
		t.Fatal(err)
	}
	agent.Await("[access: ask] [the user has taken over]")
	clicked := make(chan error, 1)
	go func() {
		_, err := agent.Call("browser_click", args{"target": "#mine"})
		clicked <- err
	}()
	agent.Must("browser_snapshot", nil)
	if asked := w.Calls(vscodeipc.CommandPermissionAsk); len(asked) > 0 {
		t.Errorf("the user is asked %s", asked[0].Arg)
	}
	w.Allow(vscodeipc.AccessFull, toolstest.Host.Name)
	if err := <-clicked; err == nil || !strings.Contains(err.Error(), "stopped by the user") {
		t.Errorf("the click ends with %v", err)
	}
}
