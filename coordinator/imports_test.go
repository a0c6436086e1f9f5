package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "browser-coordinator"

// bans lists the imports that the design forbids. Data flows one way, from the MCP host
// on the left to the window and its browser on the right. Nothing on the right imports
// anything on its left. A folder includes all folders below it, and a ban includes
// indirect imports.
var bans = []struct{ from, to, reason string }{
	{"vscodeipc", "cdpproxy", "speaking to a window is of use without an endpoint, and other tools may take it alone"},
	{"vscodeipc", "coordinator", "the protocol must not depend on one of the programs that speak it"},
	{"vscodeipc", "github.com/chromedp", "the protocol carries CDP addresses, never CDP"},
	{"cdpproxy", "vscodeipc", "the proxy asks a Source for the browser and does not care who found it"},
	{"cdpproxy", "coordinator", "the proxy is a library under the coordinator"},
	{"cdpproxy", "cdpproxy/virtual", "the proxy has a browser's URL and need not know who answers there"},
	{"cdpproxy", "cdpproxy/multiplex", "as above"},
	{"cdpproxy", "github.com/modelcontextprotocol", "the endpoint serves CDP clients, not MCP hosts"},
	{"policy", "cdpproxy", "what an actor may do is decided without knowing how the decision is applied"},
	{"policy", "coordinator", "as above"},
	{"policy", "vscodeipc", "as above"},
	{"cdpproxy/discovery", "github.com/coder/websocket", "what is answered over HTTP is of use where nobody speaks CDP"},
	{"coordinator/registry", "coordinator/tools", "windows exist without agents"},
	{"coordinator/registry", "coordinator/page", "which window is meant is decided before anything is done in it"},
	{"coordinator/registry", "github.com/modelcontextprotocol", "the registry serves the commands as well as the tools"},
	{"coordinator/endpoint", "coordinator/registry",
		"an endpoint is owned by hash and fed by a Source; how windows are found is not its business"},
	{"coordinator/endpoint", "coordinator/tools", "CDP clients are served whether or not an agent is there"},
	{"coordinator/endpoint", "vscodeipc", "as for the registry: the hash is all it needs of a window"},
	{"coordinator/page", "vscodeipc", "a page is driven the same way in a browser that no window owns"},
	{"coordinator/page", "coordinator/registry", "a page is handed its browser's URL"},
	{"coordinator/page", "coordinator/tools", "what can be done in a page does not depend on how an agent asks for it"},
	{"coordinator/page", "github.com/modelcontextprotocol", "as above"},
	{"coordinator/sourcemap", "coordinator/page", "a source map is text: who has loaded it hands it over"},
	{"coordinator/cdp", "coordinator/page", "a connection carries any CDP command and knows no page"},
	{"coordinator/cdp", "vscodeipc", "a connection is dialed by URL"},
	{"coordinator/chrome", "vscodeipc", "launching a browser is what one does without a window"},
	{"coordinator/chrome", "coordinator/registry", "as above"},
	{"coordinator/chrome", "coordinator/cdp", "a browser's process can be run and ended without speaking CDP to it"},
	{"coordinator", "internal/bench", "what only the makers run stays out of the product"},
	{"coordinator", "internal/demo", "as above"},
	{"coordinator", "internal/soak", "as above"},
	{"cdpproxy", "internal/bench", "as above"},
	{"cdpproxy", "internal/demo", "as above"},
	{"cdpproxy", "internal/soak", "as above"},
	{"vscodeipc", "internal/bench", "as above"},
	{"vscodeipc", "internal/demo", "as above"},
	{"vscodeipc", "internal/soak", "as above"},
	{"coordinator/terminal", "coordinator/registry", "text is written the same way whatever it is about"},
	{"coordinator/launch", "vscodeipc", "as for chrome: our own browser needs no window"},
	{"coordinator/provider", "vscodeipc", "as above"},
	{"coordinator/setup", "vscodeipc", "the files of MCP hosts do not depend on which windows are open"},
	{"coordinator/serving", "coordinator/tools", "CDP clients are served whether or not an agent is there"},
	{"coordinator/doctor", "coordinator/tools", "a machine is examined without an agent"},
	{"coordinator/doctor", "coordinator/page", "as above"},
	{"coordinator/tools", "coordinator/session", "a tool does not depend on who calls it, nor from where"},
	{"coordinator/tools", "coordinator/shell", "as above"},
	{"coordinator/session", "coordinator/shell", "a session speaks MCP: how a command prints results is not its business"},
	{"coordinator/shell", "coordinator/session", "what stands between the two connects to nothing"},
	{"coordinator/serving", "coordinator/session", "CDP clients are served whether or not a shell has an agent"},
	{"coordinator/doctor", "coordinator/session", "a machine is examined without an agent"},
	{"coordinator/skill", "coordinator/tools", "the texts are text: tests compare them with the commands"},
	{"internal/demo", "coordinator/registry",
		"the demo uses the coordinator as a user would: by its commands, MCP and CDP"},
	{"internal/demo", "coordinator/tools", "as above"},
	{"internal/demo", "vscodeipc", "as above"},
	{"internal/bench/tools", "coordinator/tools", "the tools are measured over stdio, as a host meets them"},
	{"internal/bench/tools", "coordinator/page", "as above"},
	{"internal/bench/tasks", "coordinator/tools", "as above"},
}

type goPackage struct {
	ImportPath string
	Doc        string
	Imports    []string
	Deps       []string
	GoFiles    []string
}

func ourPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,Deps,GoFiles", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func TestImportsFlowOneWay(t *testing.T) {
	pkgs := ourPackages(t)
	for _, ban := range bans {
		if ban.reason == "" {
			t.Errorf("the ban of %s in %s has no reason", ban.to, ban.from)
		}
		to := ban.to
		if !strings.Contains(to, ".") {
			to = module + "/" + to
		}
		found := false
		for _, p := range pkgs {
			if !within(p.ImportPath, module+"/"+ban.from) {
				continue
			}
			found = true
			for _, dep := range p.Deps {
				if within(dep, to) {
					t.Errorf("%s imports %s: %s", p.ImportPath, dep, ban.reason)
				}
			}
		}
		if !found {
			t.Errorf("the ban of %s in %s: there is no such folder any more", ban.to, ban.from)
		}
	}
}

// TestCapabilitiesDoNotImportThePage: the capabilities of a page reach the page only
// through interfaces of their own.
func TestCapabilitiesDoNotImportThePage(t *testing.T) {
	page := module + "/coordinator/page"
	found := false
	for _, p := range ourPackages(t) {
		if !strings.HasPrefix(p.ImportPath, page+"/") {
			continue
		}
		found = true
		if slices.Contains(p.Deps, page) {
			t.Errorf("%s imports the page", p.ImportPath)
		}
	}
	if !found {
		t.Error("there is no capability below coordinator/page")
	}
}

func TestEveryFolderSaysWhatItIs(t *testing.T) {
	for _, p := range ourPackages(t) {
		if len(p.GoFiles) > 0 && p.Doc == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

// dialers are the files that may open connections themselves, and their peers. All
// others reach a browser through cdpproxy/dial, which refuses forbidden addresses.
var dialers = map[string]string{
	"cdpproxy/dial/dial.go":               "browsers",
	"coordinator/chrome/display_linux.go": "the socket of an X display, to see whether it exists",
	"coordinator/userchrome/connect.go":   "a WebSocket on connections that cdpproxy/dial has opened and checked",
	"coordinator/endpoint/address.go":     "a port of 127.0.0.1 and ::1, to see whether it is taken",
	"coordinator/page/sources/sources.go": "the loopback server that a script came from, for its source map",
}

// TestOneFunctionDialsBrowsers: no other file of the product opens connections.
func TestOneFunctionDialsBrowsers(t *testing.T) {
	ways := regexp.MustCompile(`net\.Dial|` +
		`http\.(Get\(|Head\(|Post\(|PostForm\(|DefaultClient|DefaultTransport|Client\{|Transport\{)|` +
		`websocket\.Dial\(.*(, nil\)|DialOptions\{\})`)
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(strings.TrimPrefix(name, ".."+string(filepath.Separator)))
		if entry.IsDir() {
			if name == "internal" || name == "extension" || strings.HasPrefix(name, ".git") ||
				strings.HasSuffix(name, "node_modules") {
				return filepath.SkipDir // not of the product
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join("..", name))
		if found := ways.Find(text); found != nil {
			seen[name] = true
			if dialers[name] == "" {
				t.Errorf("%s has %s: dial a browser by cdpproxy/dial", name, found)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range dialers {
		if !seen[name] {
			t.Errorf("%s dials nothing any more", name)
		}
	}
}
