package cdpproxy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/policy"
)

// user is a fake user of a window. The window's protocol is tested where it is
// connected to this.
type user struct {
	asked  chan policy.Question // each question
	answer chan policy.Answer   // for the first question that waits

	mu      sync.Mutex // guards the fields that follow
	state   policy.State
	changed chan struct{}
}

func newUser(mode policy.Mode) *user {
	return &user{
		asked: make(chan policy.Question, 100), answer: make(chan policy.Answer),
		state: policy.State{Mode: mode}, changed: make(chan struct{}),
	}
}

func (h *user) Access() (policy.State, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state, h.changed
}

func (h *user) Ask(ctx context.Context, q policy.Question) (policy.Answer, error) {
	h.asked <- q
	select {
	case a := <-h.answer:
		return a, nil
	case <-ctx.Done():
		return policy.Answer{}, ctx.Err()
	}
}

func (h *user) choose(mode policy.Mode, stopped ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state.Mode, h.state.Stopped = mode, stopped
	close(h.changed)
	h.changed = make(chan struct{})
}

// TestAsk: the first mutating command asks, nothing else waits, order is kept, and
// the answer for the session is the last.
func TestAsk(t *testing.T) {
	h := newUser(policy.ModeAsk)
	_, addr := ruled(t, h, cdptest.BrowserURL(t), nil)
	id, _ := directTab(t, "about:blank")
	c, other := dial(t, addr, "/devtools/page/"+id), dial(t, addr, "/devtools/browser/x")
	navigate := func(n int) {
		t.Helper()
		send(t, c, fmt.Sprintf(`{"id":%d,"method":"Page.navigate","params":{"url":"data:text/html,<title>n%[1]d</title>"}}`, n))
	}
	expect := func(n float64, refused string) {
		t.Helper()
		reply := nextReply(t, c)
		if reply["id"] != n || (refused == "") != (reply["result"] != nil) || !strings.Contains(refusal(reply), refused) {
			t.Errorf("got %v, want the answer to %v (%q)", reply, n, refused)
		}
	}

	// Refused: the command and what waits behind it.
	navigate(1)
	q := <-h.asked
	if q.Operation.Name != "Page.navigate" || q.Detail != "data:text/html,<title>n1</title>" || q.Actor.Name != "Go program" || q.Actor.ID == "" {
		t.Errorf("the user is asked %+v", q)
	}
	navigate(2)
	if reply := exchange(t, c, `{"id":10,"method":"Page.getFrameTree"}`); reply["id"] != 10.0 {
		t.Errorf("while an act waits: %v", reply)
	}
	if got := call(t, other, getVersion); !strings.Contains(got, "Chrome/") {
		t.Errorf("another client: %s", got)
	}
	h.answer <- policy.Answer{Reason: "human"}
	expect(1, "the user did not allow it.")
	expect(2, "the user did not allow it")

	// Once: the next command asks again. The questions of a client that leaves are
	// cancelled.
	navigate(3)
	<-h.asked
	navigate(4)
	h.answer <- policy.Answer{Allow: true}
	expect(3, "")
	<-h.asked
	navigate(5)
	h.answer <- policy.Answer{Allow: true, Session: true}
	expect(4, "")
	expect(5, "")
	navigate(6)
	expect(6, "")

	send(t, other, `{"id":1,"method":"Target.createTarget","params":{"url":"about:blank"}}`)
	if q := <-h.asked; q.Operation.Name != "Target.createTarget" {
		t.Errorf("the other client's act asks %+v", q)
	}
	other.CloseNow()
}

// TestAskNamesPage: the question names the page of the command, whichever way the
// client reaches the page.
func TestAskNamesPage(t *testing.T) {
	h := newUser(policy.ModeAsk)
	_, addr := ruled(t, h, cdptest.BrowserURL(t), nil)
	const url = "data:text/html,<title>asked about</title>"
	id, _ := directTab(t, url)
	asked := func(what string) *policy.Page {
		t.Helper()
		select {
		case q := <-h.asked:
			h.answer <- policy.Answer{Reason: "human"}
			return q.Page
		case <-testContext(t).Done():
			t.Fatalf("%s: nobody is asked", what)
			return nil
		}
	}
	expect := func(what string, page *policy.Page) {
		t.Helper()
		if page == nil || page.Title != "asked about" || page.URL != url {
			t.Errorf("%s: the user sees %+v", what, page)
		}
	}
	const act = `"method":"Page.navigate","params":{"url":"about:blank"}}`
	send(t, dial(t, addr, "/devtools/page/"+id), `{"id":1,`+act)
	expect("a page's connection", asked("a page's connection"))

	c := dial(t, addr, "/devtools/browser/x")
	reply := exchange(t, c, `{"id":1,"method":"Target.attachToTarget","params":{"targetId":"`+id+`","flatten":true}}`)
	result, _ := reply["result"].(map[string]any)
	send(t, c, fmt.Sprintf(`{"id":2,"sessionId":%q,%s`, result["sessionId"], act))
	expect("a session", asked("a session"))
	nextReply(t, c) // a refusal applies to what waits too
	send(t, c, `{"id":3,"method":"Target.closeTarget","params":{"targetId":"`+id+`"}}`)
	expect("a command that names it", asked("a command that names it"))
	nextReply(t, c)
	send(t, c, `{"id":4,"method":"Target.createTarget","params":{"url":"about:blank"}}`)
	if page := asked("the browser"); page != nil {
		t.Errorf("an action on the browser is attributed to %+v", page)
	}

	done := make(chan struct{})
	go func() {
		defer close(done)
		get(t, addr, "/json/close/"+id, nil)
	}()
	expect("by HTTP", asked("by HTTP"))
	<-done
}

// TestModeChanges: a new mode applies at once, also to what waits. A stricter one ends the
// connections of all clients, which may join again.
func TestModeChanges(t *testing.T) {
	h := newUser(policy.ModeFull)
	_, addr := ruled(t, h, cdptest.BrowserURL(t), nil)
	id, _ := directTab(t, "about:blank")
	join := func() *websocket.Conn { t.Helper(); return dial(t, addr, "/devtools/page/"+id) }
	const act = `{"id":1,"method":"Page.navigate","params":{"url":"about:blank#1"}}`
	stricter := func(mode policy.Mode, conns ...*websocket.Conn) {
		t.Helper()
		h.choose(mode)
		for _, c := range conns {
			var closed websocket.CloseError
			for err := error(nil); !errors.As(err, &closed); _, _, err = c.Read(testContext(t)) {
				if err != nil {
					t.Fatalf("%s: %v", mode, err)
				}
			}
			if closed.Code != websocket.StatusPolicyViolation || !strings.Contains(closed.Reason, "stricter access mode in the window; connect again") {
				t.Errorf("%s: closed with %v", mode, closed)
			}
		}
	}
	c, other := join(), join()
	if reply := exchange(t, c, act); reply["result"] == nil {
		t.Errorf("full: %v", reply)
	}
	stricter(policy.ModeView, c, other)
	c = join()
	if reply := exchange(t, c, act); !strings.Contains(refusal(reply), `"view"`) {
		t.Errorf("view: %v", reply)
	}
	h.choose("a newer window's") // which counts as view
	if reply := exchange(t, c, act); refusal(reply) == "" {
		t.Errorf("an unknown mode: %v", reply)
	}
	h.choose(policy.ModeAsk)
	send(t, c, act)
	<-h.asked
	h.choose(policy.ModeFull)
	if reply := nextReply(t, c); reply["result"] == nil {
		t.Errorf("ask, then full: %v", reply)
	}
	stricter(policy.ModeAsk, c)
	c = join()
	send(t, c, act)
	<-h.asked
	stricter(policy.ModeView, c)
}

// slowUser answers no question before the test lets it, even if the question is
// cancelled.
type slowUser struct {
	*user
	late chan struct{}
}

func (h slowUser) Ask(ctx context.Context, q policy.Question) (policy.Answer, error) {
	h.asked <- q
	<-h.late
	return policy.Answer{}, ctx.Err()
}

// TestModeWhileWaiting: a stricter mode ends a client while it waits, and nothing that waited
// is done. That holds also for a command that the earlier mode would have allowed.
func TestModeWhileWaiting(t *testing.T) {
	h := slowUser{newUser(policy.ModeAsk), make(chan struct{})}
	reported := make(chan string, 10)
	rule := access.NewRule(h, &access.RuleOptions{Activity: func(e access.Entry) {
		reported <- fmt.Sprint(e.Operation.Name, " ", e.OK)
	}})
	t.Cleanup(func() { rule.Close() }) // after the endpoint is closed
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), &cdpproxy.Options{Rule: rule})
	id, direct := directTab(t, "about:blank")
	c := dial(t, addr, "/devtools/page/"+id)
	command := func(n int, method string) {
		t.Helper()
		send(t, c, fmt.Sprintf(`{"id":%d,"method":%q,"params":{"url":"about:blank#1"}}`, n, method))
	}
	command(1, "Page.navigate")
	<-h.asked
	h.choose(policy.ModeFull)
	command(2, "Page.reload")
	if reply := exchange(t, c, `{"id":10,"method":"Page.getFrameTree"}`); reply["id"] != 10.0 {
		t.Errorf("while acts wait: %v", reply)
	}
	h.choose(policy.ModeView)
	var closed websocket.CloseError
	if _, _, err := c.Read(testContext(t)); !errors.As(err, &closed) || closed.Code != websocket.StatusPolicyViolation || !strings.Contains(closed.Reason, "stricter access mode") {
		t.Errorf("%v, want a close frame about the stricter mode", err)
	}
	close(h.late)
	rule.Close() // it has reported all
	for len(reported) > 0 {
		if got := <-reported; strings.HasSuffix(got, "true") {
			t.Errorf("done in spite of that: %s", got)
		}
	}
	reply := exchange(t, direct, `{"id":20,"method":"Runtime.evaluate","params":{"expression":"location.href"}}`)
	if got := fmt.Sprint(reply["result"]); !strings.Contains(got, "about:blank") || strings.Contains(got, "#1") {
		t.Errorf("the page is at %s", got)
	}
}

// TestPlaywrightGetsException: Playwright gets the refusal of a script as an exception,
// the only error of a script that it does not take for a navigation.
func TestPlaywrightGetsException(t *testing.T) {
	_, addr := ruled(t, newUser(policy.ModeView), cdptest.BrowserURL(t), nil)
	c := dialAs(t, addr, "Playwright/1.65.1 (x64)")
	reply := exchange(t, c, `{"id":1,"sessionId":"s","method":"Runtime.evaluate","params":{"expression":"1"}}`)
	if text := fmt.Sprint(reply); reply["id"] != 1.0 || reply["sessionId"] != "s" || reply["error"] != nil || !strings.Contains(text, "exceptionDetails") || !strings.Contains(text, `Runtime.evaluate refused: the access mode of this window is "view"`) {
		t.Errorf("%v", reply)
	}
	if reply := exchange(t, c, `{"id":2,"method":"Target.createTarget","params":{"url":"about:blank"}}`); !strings.Contains(refusal(reply), `"view"`) {
		t.Errorf("%v", reply)
	}
}

// TestStopped: a stopped client is disconnected at once with all its connections.
// It cannot connect again, also at another coordinator, until the user lifts the
// stop. Other clients are not affected.
func TestStopped(t *testing.T) {
	h := newUser(policy.ModeFull)
	rule, addr := ruled(t, h, cdptest.BrowserURL(t), nil)
	join := func(agent string) *websocket.Conn { t.Helper(); return dialAs(t, addr, agent) }
	waitFor := func(names ...string) {
		t.Helper()
		for {
			clients, changed := rule.Clients()
			var got []string
			for _, c := range clients {
				got = append(got, c.Name)
			}
			if slices.Equal(got, names) {
				return
			}
			select {
			case <-changed:
			case <-time.After(10 * time.Second):
				t.Fatalf("connected are %v, want %v", got, names)
			}
		}
	}
	sentAway := func(c *websocket.Conn) {
		t.Helper()
		var closed websocket.CloseError
		if _, _, err := c.Read(testContext(t)); !errors.As(err, &closed) || closed.Code != websocket.StatusPolicyViolation || !strings.Contains(closed.Reason, "stopped by the user") {
			t.Errorf("%v", err)
		}
	}
	bad := join("Bad/1")
	waitFor("Bad")
	again := join("Bad/1")
	waitFor("Bad", "Bad")
	good := join("Good/1")
	waitFor("Bad", "Bad", "Good")

	h.choose(policy.ModeFull, "Bad")
	sentAway(bad)
	sentAway(again)
	call(t, good, getVersion)
	sentAway(join("Bad/2 (another version)"))
	if status, body := get(t, addr, "/json/activate/x", map[string]string{"User-Agent": "Bad/1"}); status != 403 || !strings.Contains(body, "stopped by the user") {
		t.Errorf("by HTTP: %d %s", status, body)
	}
	waitFor("Good")
	// Another coordinator knows the client only by the window's list.
	_, next := ruled(t, h, cdptest.BrowserURL(t), nil)
	sentAway(dialAs(t, next, "Bad/1"))
	call(t, dialAs(t, next, "Good/1"), getVersion)

	h.choose(policy.ModeFull)
	waitFor("Good")
	call(t, join("Bad/1"), getVersion)
	waitFor("Good", "Bad")
}
