package tools

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestEndAwaitsCalls: an agent ends after its calls, which may just connect to a browser, and no call begins
// then, although the host is still connected.
func TestEndAwaitsCalls(t *testing.T) {
	t.Parallel()
	s := NewServer(serverOptions(t, t.TempDir()))
	_, end := s.Open(t.Context(), "agent", "1")
	here, there := mcp.NewInMemoryTransports()
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- s.Join(ctx, there) }()
	defer func() {
		leave()
		<-left
	}()
	host, err := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !s.begin() {
		t.Fatal("no call begins")
	}
	ended := make(chan struct{})
	go func() {
		end(errors.New("the session is over"))
		close(ended)
	}()
	<-s.calls.Done()
	select {
	case <-ended:
		t.Error("the agent has ended before its call")
	case <-time.After(200 * time.Millisecond):
	}
	_, err = host.CallTool(t.Context(), &mcp.CallToolParams{Name: "window_list"})
	if err == nil || !strings.Contains(err.Error(), "the session is over") {
		t.Errorf("a call after the end: %v", err)
	}
	s.finish()
	<-ended
}
