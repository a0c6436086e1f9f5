package tools

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/catalog"
)

// TestListing: calls are checked against the listed schemas. UPDATE_LISTING=1 rewrites
// the listing, which each change of a tool requires.
func TestListing(t *testing.T) {
	server := NewServer(Options{Options: agent.Options{Windows: noWindows{}, Dir: t.TempDir()}, Version: "test", Caps: CapNames()})
	server.mcp.AddReceivingMiddleware(asRegistered)
	session, end := clientOf(t, server, nil)
	defer end()

	var lines []string
	for _, tool := range listTools(t, session) {
		text, err := catalog.Short(tool)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, tool.Name+" "+string(text)+"\n")
	}
	slices.Sort(lines)
	want := strings.Join(lines, "")
	if os.Getenv("UPDATE_LISTING") != "" {
		if err := os.WriteFile("catalog/listing.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(catalog.Listing, "\n")); diff != "" {
		t.Errorf("catalog/listing.txt is not what the tools are: run UPDATE_LISTING=1 go test ./coordinator/tools -run TestListing: %s", diff)
	}
}

// asRegistered is the middleware that lists the tools in full, not in their shortest form.
func asRegistered(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if list, ok := result.(*catalog.Listed); ok {
			return list.ListToolsResult, err
		}
		return result, err
	}
}
