package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/longtest"
)

// The npm package of a release serves MCP where there is Node alone.
func TestRelease(t *testing.T) {
	longtest.Require(t)
	if runtime.GOOS == "windows" {
		t.Skip("npm is a script there")
	}
	for _, program := range []string{"npm", "npx", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: %v", program, err)
		}
	}
	t.Chdir("../..")
	made := filepath.Join(t.TempDir(), "out")
	r := &release{baseURL: "https://example.com", npmScope: "@browser-coordinator",
		name: "com.example/browser-coordinator"}
	if err := r.make(made, host.node()); err != nil {
		t.Fatal(err)
	}
	checksums, err := os.ReadFile(filepath.Join(made, "checksums.txt"))
	if err != nil || bytes.Count(checksums, []byte("\n")) != 5 {
		t.Errorf("the checksums\n%s%v", checksums, err)
	}

	dir := t.TempDir()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	env = append(env, "PATH="+filepath.Dir(node)+":/bin", "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_STATE_HOME="+dir,
		"XDG_CACHE_HOME="+dir, "npm_config_cache="+filepath.Join(dir, "npm"))
	inDir := func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	tarballs, _ := filepath.Glob(filepath.Join(made, "*.tgz"))
	if out, err := inDir(t.Context(), append([]string{"npm", "install", "--offline", "--no-audit", "--no-fund"},
		tarballs...)...).CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	for _, name := range []string{"browser-coordinator", "coordinator"} {
		out, err := inDir(t.Context(), "npx", "--offline", name, "--version").Output()
		if err != nil || !strings.HasPrefix(string(out), "coordinator 0.") || strings.Contains(string(out), "dev") {
			t.Errorf("the version of %s is %q, %v", name, out, err)
		}
	}
	notices, err := os.ReadFile(filepath.Join(dir, "node_modules/@browser-coordinator", host.node(), noticesFile))
	if err != nil || !strings.Contains(string(notices), "github.com/coder/websocket") {
		t.Errorf("the licences in the npm package: %q, %v", notices, err)
	}
	archived := inArchive(t, filepath.Join(made, r.archive(host)))
	for _, name := range []string{noticesFile, "LICENSE", "man/man1/coordinator.1", "man/man1/coordinator-setup.1"} {
		if !slices.Contains(archived, name) {
			t.Errorf("the archive lacks %s: %v", name, archived)
		}
	}
	sbom, err := os.ReadFile(filepath.Join(made, "browser-coordinator-"+r.version+".spdx.json"))
	for _, part := range []string{"pkg:golang/std@", "pkg:golang/github.com/Microsoft/go-winio@", "pkg:npm/hash-wasm@",
		"pkg:npm/markdown-it@"} {
		if err != nil || !bytes.Contains(sbom, []byte(part)) {
			t.Errorf("the list of parts lacks %s, %v", part, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, nil).Connect(ctx,
		&mcp.CommandTransport{Command: inDir(ctx, "npx", "--offline", "browser-coordinator", "mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil || !slices.ContainsFunc(tools.Tools,
		func(tool *mcp.Tool) bool { return tool.Name == "browser_snapshot" }) {
		t.Errorf("its tools: %v %v", tools, err)
	}
	if err := session.Close(); err != nil {
		t.Errorf("its end: %v", err)
	}
}

// inArchive are the names of the files in a tar archive, without its folder.
func inArchive(t *testing.T, file string) (names []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(text); ; {
		header, err := archive.Next()
		if err != nil {
			return names
		}
		_, name, _ := strings.Cut(header.Name, "/")
		names = append(names, name)
	}
}

// The README names a version of Node with which each pinned npm package runs.
func TestNodeVersion(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`[0-9]+`)
	named := regexp.MustCompile(`Node ([0-9]+) or newer`).FindSubmatch(readme)
	if named == nil {
		t.Fatal("the README names no version of Node")
	}
	minimum, _ := strconv.Atoi(string(named[1]))
	for _, folder := range []string{"extension", "internal/conformance", "internal/bench/peer/npm"} {
		text, err := os.ReadFile(filepath.Join("../..", folder, "package-lock.json"))
		if err != nil {
			t.Fatal(err)
		}
		var lock struct {
			Packages map[string]struct{ Engines json.RawMessage }
		}
		if err := json.Unmarshal(text, &lock); err != nil {
			t.Fatal(err)
		}
		for name, p := range lock.Packages {
			var engines struct{ Node string }
			_ = json.Unmarshal(p.Engines, &engines) // an old form is a list
			needed := math.MaxInt
			for alternative := range strings.SplitSeq(engines.Node, "||") {
				major, err := strconv.Atoi(number.FindString(alternative))
				if err != nil {
					major = 0 // any
				}
				needed = min(needed, major)
			}
			if name == "node_modules/agent-browser" {
				continue // its program is native
			}
			if needed > minimum {
				t.Errorf("%s, %s needs Node %s; the README says %d", folder, name, engines.Node, minimum)
			}
		}
	}
}

// A line of help is text in a man page, also if troff has a meaning for it.
func TestManPage(t *testing.T) {
	page := manPage("coordinator-run", "1.0", "Run it.\n\nFlags:\n  -v, --verbose  a\\b\n.browser-coordinator is a "+
		"folder\n")
	for _, want := range []string{".TH COORDINATOR\\-RUN 1", "coordinator\\-run \\- Run it\n", ".SH FLAGS\n",
		"\\-\\-verbose  a\\eb\n", "\n\\&.browser\\-coordinator"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
