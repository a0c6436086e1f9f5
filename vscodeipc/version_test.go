//go:build unix

package vscodeipc_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"browser-coordinator/vscodeipc"
)

// versionVector is one of spec 13.4.
type versionVector struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	State       vscodeipc.State `json:"state"`
	Exchanges   []struct {
		Line   json.RawMessage `json:"line"`
		Answer map[string]any  `json:"answer"`
	} `json:"exchanges"`
}

func TestVersionVectors(t *testing.T) {
	for _, v := range vscodeipc.ReadVectors[versionVector](t, "versions") {
		t.Run(v.Name, func(t *testing.T) {
			s := vectorWindow(t)
			if err := s.SetState(v.State); err != nil {
				t.Fatal(err)
			}
			c := dialRaw(t, s.Address())
			for _, exchange := range v.Exchanges {
				var line map[string]any
				if err := json.Unmarshal(exchange.Line, &line); err != nil {
					t.Fatal(err)
				}
				text, _ := json.Marshal(line)
				c.say("%s", text)
				answer := c.hear()
				payload, _ := answer["payload"].(map[string]any)
				if answer["id"] != line["id"] || payload == nil {
					t.Fatalf("%s is answered by %v", text, answer)
				}
				for name, want := range exchange.Answer {
					if diff := cmp.Diff(want, payload[name]); diff != "" {
						t.Errorf("%s: %s: %s", text, name, diff)
					}
				}
			}
		})
	}
}

// TestEventsHaveTheVersionThatWasListenedIn also checks a replay.
func TestEventsHaveTheVersionThatWasListenedIn(t *testing.T) {
	s := vectorWindow(t)
	old := dialRaw(t, s.Address())
	old.say(`{"id":1,"type":"listen","version":1,"payload":{"events":["state"]}}`)
	old.hear()
	state := vscodeipc.State{
		Browser: &vscodeipc.Browser{URL: "ws://127.0.0.1:1/x", Via: "launched"},
		Access:  vscodeipc.Access{Mode: vscodeipc.AccessView},
	}
	if err := s.SetState(state); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"revision": 1.0, "debugSessions": []any{}, "browser": nil, "pages": []any{}}
	if diff := cmp.Diff(want, old.hear()["payload"]); diff != "" {
		t.Errorf("the event in version 1: %s", diff)
	}
	for version, mode := range map[string]any{"1": nil, "2": "view"} {
		c := dialRaw(t, s.Address())
		c.say(`{"id":1,"type":"listen","version":%s,"payload":{"events":["state"],"resume":{"session":%q,"seq":0}}}`, version, s.Session())
		c.hear()
		payload := c.hear()["payload"].(map[string]any)
		access, _ := payload["access"].(map[string]any)
		if access["mode"] != mode {
			t.Errorf("the replay in version %s is %v", version, payload)
		}
	}
}

// TestAnOlderWindowIsUnderstood dials a stand-in for a window of the first release,
// which speaks only version 1. It sends no access mode, so agents may only read.
func TestAnOlderWindowIsUnderstood(t *testing.T) {
	home(t)
	l, address := listenAs(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		serveVersion1(l)
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	c, err := vscodeipc.Dial(t.Context(), address, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if h := c.Hello(); h.Version != 1 || h.State.Access.Mode != vscodeipc.AccessView {
		t.Errorf("the hello is read as %+v", h)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("a ping in the agreed version: %v", err)
	}
}

// serveVersion1 responds to one client as the first release's windows do.
func serveVersion1(l net.Listener) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	const hello = `{"version":1,"server":{"name":"old","version":"0.1.0","kind":"vscode"},"session":"s","pid":1,"workspace":null,"folders":[],` +
		`"commands":[],"events":["state"],"seq":0,"state":{"revision":0,"debugSessions":[],"browser":null,"pages":[]}}`
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		var line struct {
			ID      json.RawMessage
			Type    string
			Version int
		}
		json.Unmarshal(lines.Bytes(), &line)
		answer := `"success":true,"payload":{}`
		switch {
		case line.Version != 1:
			answer = `"success":false,"error":{"code":"unsupported_version","message":"no","data":{"supported":[1]}}`
		case line.Type == "hello":
			answer = `"success":true,"payload":` + hello
		}
		fmt.Fprintf(conn, `{"id":%s,%s}`+"\n", line.ID, answer)
	}
}
