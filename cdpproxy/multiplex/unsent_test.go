package multiplex

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"browser-coordinator/cdpproxy/browser"
)

// leaver is a client that leaves while its command waits.
type leaver struct{}

func (leaver) Name() string       { return "leaver" }
func (leaver) Send([]byte)        {}
func (leaver) End(uint16, string) {}

// TestUnsentCommands: a command that was given up before the browser has read those before it is
// forgotten. A browser that reads nothing stands for one that is stopped.
func TestUnsentCommands(t *testing.T) {
	in, browserOut := io.Pipe()
	browserIn, out := io.Pipe()
	defer browserOut.Close()
	s, err := Serve(Pipe(in, out), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	defer browserIn.Close()
	c := &client{downstream: leaver{}, server: s}
	c.ctx, c.cancel = context.WithCancel(t.Context())
	c.cancel()
	s.mu.Lock()
	root := s.add("session", c, nil)
	c.root = root
	s.mu.Unlock()
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := s.Product(ctx); err == nil {
			t.Error("a browser that reads nothing responds")
		}
		cancel()
		if c.Send(browser.Message{ID: []byte("1"), Method: "Browser.getVersion"}) {
			t.Error("the command was sent")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The writer has the first command.
	if len(s.calls) != 1 || len(root.calls) != 0 {
		t.Errorf("%d commands wait for a response, %d of them of the client", len(s.calls), len(root.calls))
	}
}
