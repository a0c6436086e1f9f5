package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// linked are the modules whose code is in the binary. Each new one needs a reason here:
// its code runs with the user's rights.
var linked = []string{
	"github.com/Microsoft/go-winio",          // named pipes on Windows
	"github.com/adrg/xdg",                    // the folders for state
	"github.com/agnivade/levenshtein",        // the nearest name in an error
	"github.com/chromedp/cdproto",            // CDP's commands and events
	"github.com/chromedp/sysutil",            // needed by cdproto
	"github.com/coder/websocket",             // the connection to a browser
	"github.com/fsnotify/fsnotify",           // a window's socket appears
	"github.com/go-json-experiment/json",     // needed by cdproto
	"github.com/gofrs/flock",                 // locks on endpoints and profiles
	"github.com/google/jsonschema-go",        // needed by the MCP SDK
	"github.com/inconshreveable/mousetrap",   // needed by cobra
	"github.com/klauspost/cpuid/v2",          // needed by xxh3
	"github.com/modelcontextprotocol/go-sdk", // MCP
	"github.com/pelletier/go-toml/v2",        // config.toml, and the configuration of Codex
	"github.com/rogpeppe/go-internal",        // the diff of a host's file
	"github.com/segmentio/asm",               // needed by the MCP SDK
	"github.com/segmentio/encoding",          // needed by the MCP SDK
	"github.com/spf13/cobra",                 // subcommands, help, completion
	"github.com/spf13/pflag",                 // needed by cobra
	"github.com/tailscale/hujson",            // the configurations of MCP hosts, with their comments
	"github.com/yosida95/uritemplate/v3",     // needed by the MCP SDK
	"github.com/zeebo/xxh3",                  // the hash of a workspace
	"go.yaml.in/yaml/v3",                     // the configuration of Goose
	"golang.org/x/image",                     // scales pictures
	"golang.org/x/oauth2",                    // needed by the MCP SDK
	"golang.org/x/sync",                      // needed by the MCP SDK
	"golang.org/x/sys",                       // system calls
	"golang.org/x/term",                      // detects a terminal
	"golang.org/x/text",                      // Unicode NFC on macOS
	"golang.org/x/time",                      // needed by the MCP SDK
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
