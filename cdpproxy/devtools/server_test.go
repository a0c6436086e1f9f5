package devtools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/discovery"
)

// echo is a browser whose sessions answer each command with its parameters. The
// packages pipe and virtual test real ones.
type echo struct{ client *Client }

func (echo) Product(context.Context) (discovery.Product, error) {
	return discovery.Product{Name: "Echo/1"}, nil
}
func (echo) Targets(context.Context) ([]discovery.Target, error) { return nil, nil }
func (echo) Open(context.Context, string) (discovery.Target, error) {
	return discovery.Target{}, nil
}
func (echo) Act(context.Context, string, string) error { return ErrNoTarget }
func (echo) Join(_ context.Context, c *Client, page string) (Session, error) {
	if page != "" {
		return nil, ErrNoTarget
	}
	return echo{c}, nil
}
func (e echo) Receive(m Message) { e.client.Reply(m, m.Params, nil) }
func (echo) Leave()              {}

func serve(t *testing.T) *Server {
	t.Helper()
	s, err := Listen(echo{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.End(0, "")
		s.Wait()
	})
	return s
}

func dial(t *testing.T, s *Server) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), s.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	t.Cleanup(func() { ws.CloseNow() })
	return ws
}

// TestGuard: requests without the secret, or from a web page, are refused.
func TestGuard(t *testing.T) {
	s := serve(t)
	address := "http://" + s.address
	for name, c := range map[string]struct {
		url, origin string
		want        int
	}{
		"the coordinator":  {address + "/" + s.secret + "/json/version", "", http.StatusOK},
		"no path":          {address + "/", "", http.StatusForbidden},
		"no secret":        {address + "/json/version", "", http.StatusForbidden},
		"another secret":   {address + "/" + strings.Repeat("0", 32) + "/json/version", "", http.StatusForbidden},
		"a web page":       {address + "/" + s.secret + "/json/version", "https://example.com", http.StatusForbidden},
		"a sandboxed page": {address + "/" + s.secret + "/json/version", "null", http.StatusForbidden},
		"its WebSocket":    {"http" + strings.TrimPrefix(s.URL(), "ws"), "https://example.com", http.StatusForbidden},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.want || c.want != http.StatusOK && strings.Contains(string(body), s.secret) {
			t.Errorf("%s: HTTP %d %s", name, res.StatusCode, body)
		}
	}
}

// TestSlowClient: a client that does not read is disconnected, and others do not wait
// for it.
func TestSlowClient(t *testing.T) {
	maxBuffered = 1 << 20
	t.Cleanup(func() { maxBuffered = cdpproxy.MaxBuffered })
	s := serve(t)
	slow, other := dial(t, s), dial(t, s)
	message := []byte(`{"id":1,"method":"X","params":{"x":"` + strings.Repeat("x", 1<<19) + `"}}`)
	var err error
	for start := time.Now(); err == nil && time.Since(start) < time.Minute; {
		err = slow.Write(t.Context(), websocket.MessageText, message)
		if err := other.Write(t.Context(), websocket.MessageText, []byte(`{"id":2,"method":"Y"}`)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := other.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err == nil {
		t.Error("a client that does not read stays connected")
	}
}

// TestEnd: clients receive what was sent before the end, and the reason.
func TestEnd(t *testing.T) {
	s := serve(t)
	ws := dial(t, s)
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"method":"X","params":{"a":1}}`)); err != nil {
		t.Fatal(err)
	}
	if _, text, err := ws.Read(t.Context()); err != nil || string(text) != `{"id":1,"result":{"a":1}}` {
		t.Fatal(string(text), err)
	}
	s.End(websocket.StatusGoingAway, "over")
	_, _, err := ws.Read(t.Context())
	if want := (websocket.CloseError{Code: websocket.StatusGoingAway, Reason: "over"}); !strings.Contains(fmt.Sprint(err), want.Error()) {
		t.Error(err)
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		s.Wait()
	}()
	select {
	case <-waited:
	case <-time.After(30 * time.Second):
		t.Error("it does not end")
	}
	if _, _, err := websocket.Dial(t.Context(), s.URL(), nil); err == nil {
		t.Error("a server that has ended admits a client")
	}
}

// FuzzCommand: what is accepted is read as encoding/json reads it, and what is sent
// about it is one JSON message without the terminator of a pipe.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"method":"Page.enable","params":{"a":[1,"\ud800"]},"sessionId":"S"}`,
		`{"sessionId":"A","params":{"id":5,"sessionId":"B"},"method":"X","id":-7}`,
		`{"id":1.0,"method":"\u0058","params":null}`, `{"id":1e1,"method":"\u0007\u0000\u2028","sessionId":"\u0007"}`,
		`{"id":1,"method":"X"}` + "\x00" + `{"id":2,"method":"Y"}`, "{\"id\":1,\"method\":\"\xff\"}",
		`{"id":1,"id":2,"method":"X"}`, `{"id":1,"\u0069d":2,"method":"X"}`, `{"METHOD":"x","id":2}`, `{"Id":"","method":"X","id":7}`, `{"id":1,"method":"X","sessionId":"\"}"}`,
		`[{"id":1,"method":"X"}]`, `{"id":1,"method":"X","params":[]}`, `{"id":1}x`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, wrong := parseCommand(text)
		if wrong != nil {
			return
		}
		// Into a map: the names of a struct's fields would also match in other case.
		var given map[string]json.RawMessage
		if err := json.Unmarshal(text, &given); err != nil {
			t.Fatalf("%q is taken for a message: %v", text, err)
		}
		read := func(key string, into any) {
			if value := given[key]; value != nil && json.Unmarshal(value, into) != nil {
				t.Fatalf("%q is taken for a message, with %s as %s", text, value, key)
			}
		}
		var id float64
		var method, session string
		read("id", &id)
		read("method", &method)
		read("sessionId", &session)
		params := string(given["params"])
		if params == "null" {
			params = ""
		}
		if string(m.ID) != fmt.Sprint(int64(id)) || m.Method != method || m.Session != session || string(m.Params) != params {
			t.Fatalf("%q is read as %+v", text, m)
		}
		var sent Message
		if out := m.Encode(); strings.Contains(string(out), "\x00") || !json.Valid(out) || json.Unmarshal(out, &sent) != nil || sent.Method != m.Method || sent.Session != m.Session || string(sent.Params) != string(m.Params) {
			t.Fatalf("%q is sent as %q", text, out)
		}
	})
}
