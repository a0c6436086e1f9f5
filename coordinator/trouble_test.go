package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/vscodeipc"
)

// bareWindow serves a window without a browser from the test's own process. It stands
// for VS Code before F5.
func bareWindow(t *testing.T, dir, workspace string) *vscodeipc.Server {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	t.Setenv("XDG_RUNTIME_DIR", runtimeDir(dir))
	canonical, err := vscodeipc.Canonical(workspace)
	if err != nil {
		t.Fatal(err)
	}
	s, err := vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{
		Workspace: canonical, Folders: []string{canonical}, Kind: "vscode", Name: "test", Version: "1",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// The developer's window has no browser: no other browser is selected or launched, and
// the error names the user's next step.
func TestWindowWithoutBrowser(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	bareWindow(t, dir, shop)
	agent := host(t, dir, shop)
	_, err := tool(t, agent, "browser_snapshot", nil)
	if err == nil || !strings.Contains(err.Error(), "has no browser now") || !strings.Contains(err.Error(), "F5") {
		t.Errorf("%v", err)
	}
	if list := mustTool(t, agent, "window_list", nil); !strings.Contains(list, "no browser") {
		t.Errorf("window_list: %s", list)
	}
}

// Broken sockets beside a window do not harm it.
func TestBrokenNeighbours(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	s := bareWindow(t, dir, shop)
	garbled := filepath.Join(filepath.Dir(string(s.Address())), "ipc-00000000000000ff.sock")
	ln, err := net.Listen("unix", garbled)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go answerGarbage(ln, served)
	t.Cleanup(func() { ln.Close(); <-served })

	out, err := command(t.Context(), t, dir, "windows").CombinedOutput()
	if err != nil || !strings.Contains(string(out), canonicalShop(t, shop)) {
		t.Errorf("windows: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), garbled) {
		t.Errorf("windows does not tell of the broken one:\n%s", out)
	}
	out, err = command(t.Context(), t, dir, "probe").Output()
	if err == nil || !regexp.MustCompile(`(?m)^incompatible .*`+regexp.QuoteMeta(garbled)).Match(out) || !regexp.MustCompile(`(?m)^live .*`+regexp.QuoteMeta(canonicalShop(t, shop))).Match(out) {
		t.Errorf("probe: %v\n%s", err, out)
	}
	agent := host(t, dir, shop, "--no-launch")
	if list := mustTool(t, agent, "window_list", nil); !strings.HasPrefix(list, "* "+canonicalShop(t, shop)) {
		t.Errorf("window_list: %s", list)
	}
}

func canonicalShop(t *testing.T, shop string) string {
	t.Helper()
	canonical, err := vscodeipc.Canonical(shop)
	if err != nil {
		t.Fatal(err)
	}
	return canonical
}

// answerGarbage answers every line with an invalid message.
func answerGarbage(ln net.Listener, done chan<- struct{}) {
	defer close(done)
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		io.ReadFull(conn, make([]byte, 1))
		io.WriteString(conn, "HTTP/1.1 400 Bad Request\n")
		conn.Close()
	}
}

// A directory that others may enter is refused. The probe still reports the verdicts
// from elsewhere.
func TestProbeTellsWhatItFound(t *testing.T) {
	dir, err := os.MkdirTemp("", "p") // the directory must not be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	start(t, dir, "window", "--headless", "--workspace", folder(t, "shop"))
	refused := filepath.Join(dir, "home", ".local", "share", "browser-coordinator-mcp")
	if err := os.MkdirAll(refused, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := command(t.Context(), t, dir, "probe", "--json")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exited *exec.ExitError
	if !errors.As(err, &exited) || exited.ExitCode() != 1 || !strings.Contains(stderr.String(), "chmod 700 "+refused) {
		t.Errorf("probe: %v\n%s", err, &stderr)
	}
	if !strings.Contains(string(out), `"verdict": "live"`) {
		t.Errorf("probe says %s", out)
	}
}
