package private

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/discovery"
)

// echo is a browser that returns each command. The packages multiplex and virtual test real
// ones.
type echo struct{ client browser.Client }

func (echo) Product(context.Context) (discovery.Product, error) {
	return discovery.Product{Name: "Echo/1"}, nil
}
func (echo) Targets(context.Context) ([]discovery.Target, error) { return nil, nil }
func (echo) OpenPage(context.Context, string) (discovery.Target, error) {
	return discovery.Target{}, errors.New("it has no pages")
}
func (echo) Act(context.Context, string, string) error { return browser.ErrNoTarget }
func (echo) Open(_ context.Context, _ string, to browser.Client) (browser.Conn, error) {
	return echo{to}, nil
}
func (e echo) Send(m browser.Message) bool {
	e.client.Send(m.Text)
	return true
}
func (echo) Close() {}

// TestGuard: requests without the secret, or from a web page, are refused. Close ends the
// connections.
func TestGuard(t *testing.T) {
	s, err := Serve(echo{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	parts := strings.Split(s.URL(), "/")
	address, secret := "http://"+parts[2], parts[3]
	for name, c := range map[string]struct {
		url, origin string
		want        int
	}{
		"the coordinator":  {address + "/" + secret + "/json/version", "", http.StatusOK},
		"no path":          {address + "/", "", http.StatusForbidden},
		"no secret":        {address + "/json/version", "", http.StatusForbidden},
		"another secret":   {address + "/" + strings.Repeat("0", 32) + "/json/version", "", http.StatusForbidden},
		"a web page":       {address + "/" + secret + "/json/version", "https://example.com", http.StatusForbidden},
		"a sandboxed page": {address + "/" + secret + "/json/version", "null", http.StatusForbidden},
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
		if res.StatusCode != c.want || c.want != http.StatusOK && strings.Contains(string(body), secret) {
			t.Errorf("%s: HTTP %d %s", name, res.StatusCode, body)
		}
	}
	ws, _, err := websocket.Dial(t.Context(), s.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"method":"X"}`)); err != nil {
		t.Fatal(err)
	}
	if _, text, err := ws.Read(t.Context()); err != nil || string(text) != `{"id":1,"method":"X"}` {
		t.Fatal(string(text), err)
	}
	closed := make(chan error, 1)
	go func() {
		_, _, err := ws.Read(context.Background())
		closed <- err
	}()
	s.Close()
	if err := <-closed; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
	if _, _, err := websocket.Dial(t.Context(), s.URL(), nil); err == nil {
		t.Error("a server that has ended admits a client")
	}
}
