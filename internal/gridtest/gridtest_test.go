package gridtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/internal/cdptest"
)

const timeout = 2 * time.Minute

// request sends a WebDriver request as the user "agent", and returns the status and the value.
func request(t *testing.T, method, url, password string, body any) (int, json.RawMessage) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	if password != "" {
		req.SetBasicAuth("agent", password)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var value struct{ Value json.RawMessage }
	json.Unmarshal(answer, &value) // without credentials it is no JSON
	return resp.StatusCode, value.Value
}

type session struct {
	SessionID    string
	Capabilities struct {
		CDP string `json:"se:cdp"`
	}
}

func open(t *testing.T, g *Grid, password string) session {
	t.Helper()
	code, value := request(t, http.MethodPost, g.URL()+"/session", password,
		map[string]any{"capabilities": map[string]any{"alwaysMatch": Capabilities()}})
	var s session
	if err := json.Unmarshal(value, &s); code != http.StatusOK || err != nil || s.Capabilities.CDP == "" {
		t.Fatalf("new session: %d %v %s", code, err, value)
	}
	return s
}

func awaitSessions(t *testing.T, g *Grid, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	for {
		ids, err := g.Sessions(ctx)
		if err == nil && strings.Join(ids, " ") == strings.Join(want, " ") {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the grid has the sessions %v (%v), want %v", ids, err, want)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestGrid(t *testing.T) {
	g := Start(t, Options{Nodes: 2})
	s := open(t, g, "")
	awaitSessions(t, g, s.SessionID)
	var v struct{ Product string }
	cdptest.Dial(t, s.Capabilities.CDP).Call("", "Browser.getVersion", "{}", &v)
	if !strings.Contains(v.Product, "Chrome/") {
		t.Errorf("the browser is %q", v.Product)
	}
	if code, _ := request(t, http.MethodDelete, g.URL()+"/session/"+s.SessionID, "", nil); code != http.StatusOK {
		t.Errorf("the session's end: status %d", code)
	}
	awaitSessions(t, g)

	first, second := open(t, g, "").SessionID, open(t, g, "").SessionID
	node, err := g.NodeOf(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	mark := g.nodes[node].mark
	if n := len(marked(mark)); n < 5 {
		t.Errorf("a node with a browser has %d processes", n)
	}
	g.KillNode(node)
	if left := marked(mark); len(left) > 0 {
		t.Errorf("processes of the killed node: %v", left)
	}
	awaitSessions(t, g, second) // the hub notices, and the other node's session goes on
	if err := g.StartNode(); err != nil {
		t.Fatal(err)
	}
	third := open(t, g, "").SessionID

	if err := g.RestartHub(); err != nil {
		t.Fatal(err)
	}
	ids, err := g.Sessions(t.Context())
	if err != nil || len(ids) != 2 || !slices.Contains(ids, second) || !slices.Contains(ids, third) {
		t.Errorf("after the hub's restart the nodes have %v (%v), want %s and %s", ids, err, second, third)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	for _, s := range append(g.nodes, g.hub) {
		if left := marked(s.mark); len(left) > 0 {
			t.Errorf("processes of the %s after the end: %v", s.name, left)
		}
	}
	if _, err := os.Stat(g.dir); err == nil {
		t.Errorf("%s is still there", g.dir)
	}
}

func TestBasicAuthentication(t *testing.T) {
	g := Start(t, Options{MaxSessions: 2, Username: "agent", Password: "right"})
	for _, password := range []string{"", "wrong"} {
		if code, _ := request(t, http.MethodGet, g.URL()+"/status", password, nil); code != http.StatusUnauthorized {
			t.Errorf("password %q: status %d", password, code)
		}
	}
	first := open(t, g, "right").SessionID
	second := open(t, g, "right").SessionID // at the same node
	if ids, err := g.Sessions(t.Context()); err != nil || len(ids) != 2 || !slices.Contains(ids, first) ||
		!slices.Contains(ids, second) {
		t.Errorf("sessions %v (%v), want %s and %s", ids, err, first, second)
	}
}
