package tools

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A host gets no log messages before it sets a level, then those at this level and above.
func TestLogLevelOfTheHost(t *testing.T) {
	server := NewServer(serverOptions(t, t.TempDir()))
	lines := make(chan string, 100)
	session, end := clientOf(t, server, &mcp.ClientOptions{
		//lint:ignore SA1019 hosts that show a server's log will do so for years
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			record, _ := req.Params.Data.(map[string]any)
			lines <- fmt.Sprintf("%v %v", req.Params.Level, record["msg"])
		},
	}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	defer end()
	var log *slog.Logger
	for session := range server.mcp.Sessions() {
		a, _ := server.sessionOf(session)
		log = a.Log
	}
	//lint:ignore SA1019 as above
	for _, level := range []mcp.LoggingLevel{"", "error", "warning", "info", "debug"} {
		if level != "" {
			//lint:ignore SA1019 as above
			if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: level}); err != nil {
				t.Fatal(err)
			}
		}
		log.Debug("at " + string(level))
		log.Info("at " + string(level))
		log.Warn("at " + string(level))
		log.Error("at " + string(level))
	}
	want := []string{
		"error at error",
		"warning at warning", "error at warning",
		"info at info", "warning at info", "error at info",
		"debug at debug", "info at debug", "warning at debug", "error at debug",
	}
	var received []string
	for len(received) == 0 || received[len(received)-1] != want[len(want)-1] {
		select {
		case line := <-lines:
			received = append(received, line)
		case <-time.After(time.Minute):
			t.Fatalf("received %q and no more", received)
		}
	}
	if !slices.Equal(received, want) {
		t.Errorf("received %q, want %q", received, want)
	}
}
