package cdpproxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// testRule refuses Runtime.evaluate, ends a client that sends Browser.close, lets
// Page.navigate wait for an answer and keeps DOM.focus behind it.
type testRule struct {
	passAll
	mu      sync.Mutex // guards seen
	seen    []string
	answers chan cdpproxy.Decision // for Page.navigate
}

func newRule() *testRule { return &testRule{answers: make(chan cdpproxy.Decision)} }

func (r *testRule) Judge(m *cdpproxy.Message) cdpproxy.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, m.Method)
	switch m.Method {
	case "Runtime.evaluate", "Target.closeTarget":
		return cdpproxy.Decision{Action: cdpproxy.Deny, Reason: m.Method + " is refused by the test"}
	case "Browser.close":
		return cdpproxy.Decision{Action: cdpproxy.Disconnect, Reason: "the browser stays"}
	case "Emulation.setFocusEmulationEnabled":
		return cdpproxy.Decision{Action: cdpproxy.Ignore}
	case "Page.navigate":
		return cdpproxy.Decision{Action: cdpproxy.Ask}
	case "DOM.focus":
		if m.Behind() {
			return cdpproxy.Decision{Action: cdpproxy.Ask}
		}
	}
	return cdpproxy.Decision{}
}

func (r *testRule) Decide(ctx context.Context, m *cdpproxy.Message) (v cdpproxy.Decision) {
	if m.Method == "Page.navigate" {
		select {
		case v = <-r.answers:
		case <-ctx.Done():
		}
	}
	return v
}

// exchange sends message and returns the response with its id.
func exchange(t testing.TB, c *websocket.Conn, message string) map[string]any {
	t.Helper()
	send(t, c, message)
	return nextReply(t, c)
}

// nextReply returns the next message that is not an event.
func nextReply(t testing.TB, c *websocket.Conn) map[string]any {
	t.Helper()
	for {
		_, b, err := c.Read(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if m["method"] == nil {
			return m
		}
	}
}

// ruleFunc is a function as a Rule.
type ruleFunc struct {
	passAll
	judge func(*cdpproxy.Message) cdpproxy.Decision
}

func (f ruleFunc) Judge(m *cdpproxy.Message) cdpproxy.Decision { return f.judge(m) }

// lateRule judges each message only once it has waited.
type lateRule struct{ cdpproxy.Rule }

func (lateRule) Judge(*cdpproxy.Message) cdpproxy.Decision {
	return cdpproxy.Decision{Action: cdpproxy.Ask}
}

func (r lateRule) Decide(_ context.Context, m *cdpproxy.Message) cdpproxy.Decision {
	return r.Rule.Judge(m)
}

// TestDecisionOnTheNext: the policy may change with the browser. If a client's
// command is judged just as another browser replaces the old one, the old one does
// not get it: the decision may be for the new one.
func TestDecisionOnTheNext(t *testing.T) {
	received := make(chan []byte, 1)
	old := startFake(t, "127.0.0.1:0", "old", func(conn net.Conn) {
		text, _ := io.ReadAll(conn)
		received <- text
	})
	next := startFake(t, "127.0.0.1:0", "next", nil)
	for _, late := range []bool{false, true} {
		src := newSource(old.url())
		var rule cdpproxy.Rule = ruleFunc{judge: func(*cdpproxy.Message) cdpproxy.Decision {
			src.set("next", next.url())
			return cdpproxy.Decision{}
		}}
		if late {
			rule = lateRule{rule}
		}
		_, addr := serve(t, src, &cdpproxy.Options{Rule: rule})
		c := dial(t, addr, "/devtools/page/1")
		send(t, c, `{"id":1,"method":"Page.enable"}`)
		if _, _, err := c.Read(testContext(t)); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
			t.Errorf("the client received %v", err)
		}
		if text := <-received; strings.Contains(string(text), "enable") || len(text) > 20 {
			t.Errorf("late %v: the old browser received %q", late, text)
		}
	}
}

func direct(t *testing.T, path string) {
	host := strings.TrimPrefix(cdptest.BrowserURL(t), "ws://")
	res, err := http.Get("http://" + host[:strings.IndexByte(host, '/')] + path)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
}

// TestRuleFrames: a message that a rule cannot read reliably ends the client.
func TestRuleFrames(t *testing.T) {
	rule := newRule()
	_, addr := serveLimited(t, newSource(cdptest.BrowserURL(t)), &cdpproxy.Options{Rule: rule}, cdpproxy.Limits{Headers: 1 << 20})
	text := getVersion
	for name, frames := range map[string]string{
		"compressed":         "\xc1" + masked(text)[1:],
		"binary":             "\x82" + masked(text)[1:],
		"unmasked":           "\x81\x02{}",
		"stray continuation": "\x80" + masked(text)[1:],
		"text in a message":  "\x01" + masked(text)[1:] + masked(text),
		"split ping":         "\x09" + masked("")[1:],
		"unknown opcode":     "\x83" + masked(text)[1:],
		"too big":            "\x81\xff\x00\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00",
		"endless frames":     "\x01\x80\x00\x00\x00\x00" + strings.Repeat("\x00\x80\x00\x00\x00\x00", 3<<16),
		"absurd":             "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00",
	} {
		conn, br := rawUpgrade(t, addr)
		io.WriteString(conn, frames)
		if got := readFrame(t, br); len(got) < 2 || got[0] != 3 || got[1] < 0xea {
			t.Errorf("%s: %q, want a close frame with 1002, 1003 or 1009", name, got)
		}
	}
	if len(rule.seen) != 0 {
		t.Errorf("the rule was shown %v", rule.seen)
	}
}

// TestRuleWaits: operations that wait for a user keep their order, also with those that
// must not overtake them, and nothing else waits for them.
func TestRuleWaits(t *testing.T) {
	rule := newRule()
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), &cdpproxy.Options{Rule: rule})
	id := openTab(t, addr)
	defer direct(t, "/json/close/"+id) // the endpoint refuses it
	c := dial(t, addr, "/devtools/page/"+id)
	other := dial(t, addr, "/devtools/browser/x")
	command := func(id int, method, params string) {
		t.Helper()
		send(t, c, fmt.Sprintf(`{"id":%d,"method":%q,"params":{%s}}`, id, method, params))
	}
	for id := range 3 {
		command(id+1, "Page.navigate", fmt.Sprintf(`"url":"data:text/html,<title>n%d</title>"`, id))
	}
	command(4, "DOM.focus", "") // behind them
	command(10, "Page.getFrameTree", "")
	command(11, "Emulation.setFocusEmulationEnabled", "") // Ignore
	answered := map[any]bool{}                            // 10 by the browser, 11 by the endpoint, so in any order
	for range 2 {
		reply := nextReply(t, c)
		answered[reply["id"]] = reply["result"] != nil
	}
	if !answered[10.0] || !answered[11.0] {
		t.Errorf("while acts wait: %v, want the results of 10 and 11", answered)
	}
	if got := call(t, other, getVersion); !strings.Contains(got, "Chrome/") {
		t.Errorf("another client: %s", got)
	}
	for _, why := range []string{"no", "not this", "nor that"} {
		rule.answers <- cdpproxy.Decision{Action: cdpproxy.Deny, Reason: why}
	}
	for i, want := range []string{"no", "not this", "nor that", ""} {
		if reply := nextReply(t, c); reply["id"] != float64(i+1) || !strings.Contains(refusal(reply), want) {
			t.Errorf("%v, want the answer to %d with %q", reply, i+1, want)
		}
	}
	// With nothing before it, it does not wait.
	if reply := exchange(t, c, `{"id":5,"method":"DOM.focus"}`); reply["id"] != 5.0 {
		t.Errorf("%v", reply)
	}
}

// TestTooManyWait: up to 1,000 messages of one client wait for a decision. Further ones
// are refused, no other message is, and no other client has less room.
func TestTooManyWait(t *testing.T) {
	t.Parallel()
	const fit = 1000
	rule := newRule()
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	_, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Rule: rule})
	conn, other := dial(t, addr, "/devtools/browser/x"), dial(t, addr, "/devtools/browser/x")
	for id := 1; id <= fit+1; id++ {
		send(t, conn, fmt.Sprintf(`{"id":%d,"method":"Page.navigate"}`, id))
	}
	if reply := nextReply(t, conn); reply["id"] != fit+1.0 || !strings.Contains(refusal(reply), "too many commands wait for a decision") {
		t.Errorf("one more: %v", reply)
	}
	if got := call(t, conn, getVersion); got != getVersion {
		t.Errorf("what does not wait: %s", got)
	}
	// No waiting message is lost or out of order, and there is room again.
	no := cdpproxy.Decision{Action: cdpproxy.Deny, Reason: "no"}
	for id := 1; id <= fit; id++ {
		rule.answers <- no
		if reply := nextReply(t, conn); reply["id"] != float64(id) || refusal(reply) != "no" {
			t.Fatalf("message %d: %v", id, reply)
		}
	}
	for _, c := range []*websocket.Conn{other, conn} {
		send(t, c, `{"id":7,"method":"Page.navigate"}`)
		rule.answers <- no
		if reply := nextReply(t, c); refusal(reply) != "no" {
			t.Errorf("with room: %v", reply)
		}
	}
}

// TestNothingBehind: what a client sends after its close frame, or after a message that
// has ended its connection, is neither judged nor forwarded, and gets no response. It may
// come in the same packet or later.
func TestNothingBehind(t *testing.T) {
	bye := "\x88" + masked("")[1:]
	for name, c := range map[string]struct {
		ends, forwarded string   // what ends the connection, and what of it the browser gets
		answers         []string // that the client gets
	}{
		"a message":     {masked(`{"id":1,"method":"Browser.close"}`), "", []string{`{"id":1,"result":{}}`, "the browser stays"}},
		"a close frame": {bye, bye, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			received := make(chan string, 1)
			fake := startFake(t, "127.0.0.1:0", "listens", func(conn net.Conn) {
				begin := make([]byte, len(c.forwarded))
				io.ReadFull(conn, begin)
				if c.forwarded != "" {
					io.WriteString(conn, "\x88\x00")
				}
				rest, _ := io.ReadAll(conn)
				received <- string(append(begin, rest...))
			})
			rule := newRule()
			watcher := newJoined(rule)
			_, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Rule: watcher})
			conn, br := rawUpgrade(t, addr)
			io.WriteString(conn, c.ends+masked(`{"id":2,"method":"A.behind"}`)+"\xff\xff\xff")
			for _, want := range c.answers {
				if got := readFrame(t, br); !strings.Contains(got, want) {
					t.Errorf("the client gets %q, want %q", got, want)
				}
			}
			io.WriteString(conn, masked(`{"id":3,"method":"A.later"}`))
			conn.Close()
			<-watcher.left
			if got := <-received; got != c.forwarded {
				t.Errorf("the browser received %q", got)
			}
			rule.mu.Lock()
			defer rule.mu.Unlock()
			if slices.Contains(rule.seen, "A.later") || slices.Contains(rule.seen, "A.behind") {
				t.Errorf("judged: %q", rule.seen)
			}
		})
	}
}
