package multiplex

import (
	"fmt"
	"io"
	"log/slog"
	"testing"

	"browser-coordinator/cdpproxy/browser"
)

// scripted is a Transport whose browser responds to each command with its id and a session.
type scripted struct{ messages chan string }

func (s scripted) Read() ([]byte, error) {
	text, open := <-s.messages
	if !open {
		return nil, io.EOF
	}
	return []byte(text), nil
}

func (s scripted) Write(command []byte) error {
	m, err := browser.ParseCommand(command)
	if err == nil {
		s.messages <- fmt.Sprintf(`{"id":%s,"result":{"sessionId":"root-%s"}}`, m.ID, m.ID)
	}
	return err
}

func (s scripted) Close() error { return nil }

type counting struct{ events chan struct{} }

func (counting) Name() string       { return "counting" }
func (c counting) Send([]byte)      { c.events <- struct{}{} }
func (counting) End(uint16, string) {}

// TestManySessions: a client with very many sessions, each with commands under way, leaves
// without delaying the others: what is done for each does not grow with their number.
func TestManySessions(t *testing.T) {
	const many = 100_000 // a comparison of each two of them takes many minutes
	messages := make(chan string, many)
	s, err := Serve(scripted{messages}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	to := counting{make(chan struct{}, many)}
	conn, err := s.Open(t.Context(), "", to)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	root := conn.(*client).root.id
	s.mu.Unlock()
	for i := range many {
		messages <- fmt.Sprintf(
			`{"method":"Target.attachedToTarget","params":{"sessionId":"%d","targetInfo":{}},"sessionId":%q}`, i, root)
		<-to.events
		s.mu.Lock()
		s.register(call{client: conn.(*client), session: s.sessions[fmt.Sprint(i)]})
		s.mu.Unlock()
	}
	conn.Close()
	if err := s.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	if len(s.sessions) != 0 || len(s.calls) > 1 {
		t.Errorf("%d sessions and %d commands are still there", len(s.sessions), len(s.calls))
	}
	s.mu.Unlock()
	close(messages)
	s.Close()
}
