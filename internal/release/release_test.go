package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/internal/longtest"
)

// The npm package of a release serves MCP where there is Node alone.
func TestRelease(t *testing.T) {
	longtest.Only(t)
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
	r := &release{baseURL: "https://example.com", npmScope: "@browser-coordinator", name: "com.example/browser-coordinator"}
	if err := r.make(made, host.node()); err != nil {
		t.Fatal(err)
	}
	checksums, err := os.ReadFile(filepath.Join(made, "checksums.txt"))
	if err != nil || bytes.Count(checksums, []byte("\n")) != 4 {
		t.Errorf("the checksums\n%s%v", checksums, err)
	}

	dir := t.TempDir()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	env = append(env, "PATH="+filepath.Dir(node)+":/bin", "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir, "npm_config_cache="+filepath.Join(dir, "npm"))
	inDir := func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, env
		return cmd
	}
	tarballs, _ := filepath.Glob(filepath.Join(made, "*.tgz"))
	if out, err := inDir(t.Context(), append([]string{"npm", "install", "--offline", "--no-audit", "--no-fund"}, tarballs...)...).CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	if out, err := inDir(t.Context(), "npx", "--offline", "browser-coordinator", "--version").Output(); err != nil || !strings.HasPrefix(string(out), "coordinator 0.") || strings.Contains(string(out), "dev") {
		t.Errorf("its version is %q, %v", out, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "host", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: inDir(ctx, "npx", "--offline", "browser-coordinator", "mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil || !slices.ContainsFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == "browser_snapshot" }) {
		t.Errorf("its tools: %v %v", tools, err)
	}
	if err := session.Close(); err != nil {
		t.Errorf("its end: %v", err)
	}
}

// A line of help is text in a man page, also if troff has a meaning for it.
func TestManPage(t *testing.T) {
	page := manPage("coordinator-run", "1.0", "Run it.\n\nFlags:\n  -v, --verbose  a\\b\n.browser-coordinator is a folder\n")
	for _, want := range []string{".TH COORDINATOR\\-RUN 1", "coordinator\\-run \\- Run it\n", ".SH FLAGS\n", "\\-\\-verbose  a\\eb\n", "\n\\&.browser\\-coordinator"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
