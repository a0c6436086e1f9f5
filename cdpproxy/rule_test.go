package cdpproxy_test

import (
	"encoding/json"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/policy"
)

// testRule ends a client that sends Browser.close.
type testRule struct {
	passAll
	mu   sync.Mutex // guards seen
	seen []string
}

func (r *testRule) Judge(_ *cdpproxy.Client, m *browser.Message) cdpproxy.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, m.Method)
	if m.Method == "Browser.close" {
		return cdpproxy.Decision{Outcome: policy.Disconnect, Reason: "the browser stays"}
	}
	return cdpproxy.Decision{Outcome: policy.Allow}
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
	judge func(*browser.Message) cdpproxy.Decision
}

func (f ruleFunc) Judge(_ *cdpproxy.Client, m *browser.Message) cdpproxy.Decision { return f.judge(m) }

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
	src := newSource(old.url())
	_, addr := serve(t, src, &cdpproxy.Options{Rule: ruleFunc{judge: func(*browser.Message) cdpproxy.Decision {
		src.set("next", next.url())
		return cdpproxy.Decision{Outcome: policy.Allow}
	}}})
	c := dial(t, addr, "/devtools/page/1")
	send(t, c, `{"id":1,"method":"Page.enable"}`)
	if _, _, err := c.Read(testContext(t)); websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("the client received %v", err)
	}
	if text := <-received; strings.Contains(string(text), "enable") || len(text) > 20 {
		t.Errorf("the old browser received %q", text)
	}
}

// TestRuleFrames: a message that a rule cannot read reliably ends the client.
func TestRuleFrames(t *testing.T) {
	rule := new(testRule)
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), &cdpproxy.Options{Rule: rule})
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

// TestNothingBehind: what a client sends after its close frame, or after a message that
// has ended its connection, is neither judged nor forwarded, and gets no response. It may
// come in the same packet or later.
func TestNothingBehind(t *testing.T) {
	bye := "\x88" + masked("")[1:]
	for name, c := range map[string]struct {
		ends, forwarded string   // what ends the connection, and what of it the browser gets
		answers         []string // that the client gets
	}{
		"a message": {masked(`{"id":1,"method":"Browser.close"}`), "", []string{`{"id":1,"result":{}}`,
			"the browser stays"}},
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
			rule := new(testRule)
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
