package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// linked are the modules whose code is in the binary. A new one belongs here
// with a reason: every line is code that runs with the user's rights.
var linked = []string{
	"github.com/Microsoft/go-winio",          // named pipes on Windows
	"github.com/adrg/xdg",                    // where state belongs
	"github.com/chromedp/cdproto",            // CDP's commands and events
	"github.com/chromedp/sysutil",            // of cdproto
	"github.com/coder/websocket",             // the connection to a browser
	"github.com/fsnotify/fsnotify",           // a window's socket appears
	"github.com/go-json-experiment/json",     // of cdproto
	"github.com/gofrs/flock",                 // who serves an endpoint, who uses a profile
	"github.com/google/jsonschema-go",        // of the MCP SDK
	"github.com/inconshreveable/mousetrap",   // of cobra
	"github.com/klauspost/cpuid/v2",          // of xxh3
	"github.com/modelcontextprotocol/go-sdk", // MCP
	"github.com/segmentio/asm",               // of the MCP SDK
	"github.com/segmentio/encoding",          // of the MCP SDK
	"github.com/spf13/cobra",                 // subcommands, help, completion
	"github.com/spf13/pflag",                 // of cobra
	"github.com/yosida95/uritemplate/v3",     // of the MCP SDK
	"github.com/zeebo/xxh3",                  // the hash of a workspace
	"golang.org/x/oauth2",                    // of the MCP SDK
	"golang.org/x/sync",                      // groups of goroutines
	"golang.org/x/sys",                       // system calls
	"golang.org/x/term",                      // is this a terminal
	"golang.org/x/text",                      // Unicode NFC on macOS
	"golang.org/x/time",                      // of the MCP SDK
}

func TestBinaryHasOnlyWhatItNeeds(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	cmd.Env = append(os.Environ(), "GOWORK=off") // as the product is built
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := strings.Fields(string(out))
	slices.Sort(found)
	for _, m := range slices.Compact(found) {
		if m != module && !slices.Contains(linked, m) {
			t.Errorf("the binary links %s, which is not in the list: is it needed?", m)
		}
	}
}
