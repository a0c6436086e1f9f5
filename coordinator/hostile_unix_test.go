//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/coordinator/status"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// hostile is a name that would set the terminal's title, clear the screen and show its
// end backwards. It also has an 8-bit control character and a second line.
const hostile = "shop\x1b]0;pwned\x07\x1b[2J\u009b31m\u202egnp\nspoof"

// The terminal shows a window's texts and does not interpret them. Programs read them
// unchanged.
func TestNamesCannotDriveTheTerminal(t *testing.T) {
	t.Parallel()
	folder := toolstest.Folder(t, hostile)
	w := toolstest.OpenWindowAt(t, folder, "")
	if err := w.SetState(vscodeipc.State{Browser: &vscodeipc.Browser{
		URL: "ws://127.0.0.1:1/x", Product: "Chrome " + hostile, Via: "attached",
	}}); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for _, args := range [][]string{
		{"status"}, {"probe"}, {"status", "--json"}, {"probe", "--json"},
		{"endpoint", "--workspace", folder}, {"endpoint", "--json", "--workspace", folder},
		{"endpoint", "--workspace", elsewhere + "/" + hostile},
	} {
		t.Run(strings.ToValidUTF8(terminal.PrintableLine(strings.Join(args, " ")), ""), func(t *testing.T) {
			cmd := command(t.Context(), t, toolstest.Dir, args...)
			cmd.Dir = elsewhere
			var stderr strings.Builder
			cmd.Stderr = &stderr
			stdout, err := cmd.Output()
			if err != nil && !errors.As(err, new(*exec.ExitError)) {
				t.Fatal(err)
			}
			for _, out := range []string{string(stdout), stderr.String()} {
				for _, bad := range []string{"\x1b", "\x07", "\u009b", "\u202e", "\nspoof"} {
					if bad == "\nspoof" && args[0] == "endpoint" {
						continue // a message may have several lines
					}
					if strings.Contains(out, bad) {
						t.Errorf("%q is in %q", bad, out)
					}
				}
			}
			if !strings.Contains(string(stdout)+stderr.String(), "pwned") && args[0] != "endpoint" {
				t.Errorf("the name is not shown: %s%s", stdout, &stderr)
			}
			if args[0] == "status" && len(args) > 1 {
				var read status.Report
				if err := json.Unmarshal(stdout, &read); err != nil {
					t.Errorf("a program reads %s, %v", stdout, err)
				}
				for _, w := range read.Windows {
					if w.Workspace != nil && *w.Workspace == folder && w.Browser.Product == "Chrome "+hostile {
						return
					}
				}
				t.Errorf("a program reads %s", stdout)
			}
		})
	}
}

// Broken sockets beside a window do not harm it. A directory that others may enter is
// refused, and the probe still reports the verdicts from elsewhere.
func TestBrokenNeighbours(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "p") // must not be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	shop := toolstest.Folder(t, "shop")
	openWindow(t, dir, shop)
	garbled := filepath.Join(dir, "data", "browser-coordinator-mcp", "ipc-00000000000000ff.sock")
	ln, err := net.Listen("unix", garbled)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go answerGarbage(ln, served)
	t.Cleanup(func() { ln.Close(); <-served })

	out, err := command(t.Context(), t, dir, "status").Output()
	if err != nil || !strings.Contains(string(out), shop) || !strings.Contains(string(out), garbled) {
		t.Errorf("status does not list the window and the broken one: %v\n%s", err, out)
	}
	out, err = command(t.Context(), t, dir, "probe").Output()
	if err == nil || !regexp.MustCompile(`(?m)^incompatible .*`+regexp.QuoteMeta(garbled)).Match(out) ||
		!regexp.MustCompile(`(?m)^live .*`+regexp.QuoteMeta(shop)).Match(out) {
		t.Errorf("probe: %v\n%s", err, out)
	}
	host(t, dir, shop, "--no-launch").Expect("window_list", nil, "* "+shop)

	refused := filepath.Join(dir, "home", ".local", "share", "browser-coordinator-mcp")
	if err := os.MkdirAll(refused, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := command(t.Context(), t, dir, "probe", "--json")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, _ = cmd.Output()
	if cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(stderr.String(), "chmod 700 "+refused) ||
		!strings.Contains(string(out), `"verdict": "live"`) {
		t.Errorf("probe: %s\n%s", out, &stderr)
	}
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

// A file in an open window's folder resolves to that window. So does a file that is a
// window's workspace, whatever its name is.
func TestFilesOfAnOpenWindow(t *testing.T) {
	t.Parallel()
	shop := toolstest.Folder(t, "shop")
	file, odd := filepath.Join(shop, "src", "basket.js"), filepath.Join(filepath.Dir(shop), "odd.json")
	for _, f := range []string{file, odd} {
		if err := os.WriteFile(f, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	window, err := vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{Workspace: odd, Folders: []string{shop},
		Server: vscodeipc.ServerInfo{Name: "stand-in", Kind: "vscode"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { window.Close(t.Context()) })
	for _, path := range []string{file, odd} {
		var answer endpointJSON
		out := output(t, toolstest.Dir, "endpoint", "--json", "--workspace", path)
		if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.Workspace != odd {
			t.Errorf("--workspace %s is %q, %v; want %s", path, answer.Workspace, err, odd)
		}
	}
}
