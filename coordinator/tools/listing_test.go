package tools

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools/catalog"
)

// TestListing: calls are checked against the listed schemas. UPDATE_LISTING=1 rewrites
// the listing, which each change of a tool requires.
func TestListing(t *testing.T) {
	var caps []string
	for _, c := range Caps() {
		caps = append(caps, c.Name)
	}
	server := NewServer(Options{Windows: noWindows{}, Dir: t.TempDir(), Version: "test", Caps: caps})
	bare := mcp.NewServer(&mcp.Implementation{Name: "bare"}, nil)
	server.tools.RegisterAll(bare)
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- bare.Run(context.Background(), there) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { session.Close(); <-ended }()

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
