package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A signal ends an agent's coordinator also while a call waits for a grid.
func TestSignalWhileWaiting(t *testing.T) {
	t.Parallel()
	questions := make(chan struct{})
	seen := sync.OnceFunc(func() { close(questions) })
	grid := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		seen()
		_, _ = r.Body.Read(make([]byte, 1<<16))
		<-r.Context().Done()
	}))
	defer grid.Close()
	dir := t.TempDir()
	cmd := command(context.Background(), t, dir, "mcp", "--grid", grid.URL)
	cmd.Dir = t.TempDir()
	agent := startHost(t, cmd)
	ended := make(chan struct{})
	go func() {
		// It fails, or its connection ends.
		_, _ = agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_snapshot"})
		close(ended)
	}()
	<-questions
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the coordinator goes on after the signal")
		_ = cmd.Process.Kill()
	}
}
