//go:build unix

package tools

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestNamedPipes: a tool that reads a file does not wait for the writer of a named pipe.
func TestNamedPipes(t *testing.T) {
	workspace := t.TempDir()
	pipe := filepath.Join(workspace, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	server := NewServer(attachedOptions(t, workspace, launchBrowser(t), CapNames()...))
	session, end := clientOf(t, server, nil)
	t.Cleanup(end)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"browser_set_storage_state", map[string]any{"filename": "pipe"}, "is not a regular file"},
		{"browser_file_upload", map[string]any{"paths": []string{"pipe"}}, "is neither a file nor a folder"},
	} {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Fatalf("%s: %v", c.tool, err)
		}
		text, _ := res.Content[0].(*mcp.TextContent)
		if !res.IsError || text == nil || !strings.Contains(text.Text, c.want) {
			t.Errorf("%s: %+v", c.tool, text)
		}
	}
}
