//go:build unix

package vscodeipc_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/vscodeipc"
)

// nodeProgram builds a program of testdata on the extension's core.
func nodeProgram(t *testing.T, source string, args ...string) *exec.Cmd {
	t.Helper()
	esbuild, err := filepath.Abs("../extension/node_modules/.bin/esbuild")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(esbuild); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the extension's tools are not installed; run: npm ci in extension/")
	}
	script := filepath.Join(t.TempDir(), "program.mjs")
	build := exec.Command(esbuild, "testdata/"+source, "--bundle", "--platform=node", "--format=esm", "--log-level=warning", "--outfile="+script)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v: %s", source, err, out)
	}
	cmd := exec.Command("node", append([]string{script}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// startNodeWindow starts a window of the extension's core that serves until its stdin
// ends.
func startNodeWindow(t *testing.T, folder string) (node *exec.Cmd, stdin io.WriteCloser, address vscodeipc.Address) {
	t.Helper()
	node = nodeProgram(t, "window.ts", folder, "serve")
	stdin, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		node.Process.Kill() // fails if it has ended
		node.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return node, stdin, vscodeipc.Address(strings.TrimSpace(line))
}

// TestClientOfTheExtensionsWindow connects this package's client to the extension's
// server.
func TestClientOfTheExtensionsWindow(t *testing.T) {
	folder := home(t)
	node, stdin, address := startNodeWindow(t, folder)
	if found := vscodeipc.Find(vscodeipc.Hash(folder)); len(found) != 1 || found[0] != address {
		t.Errorf("Find gives %v, it listens at %s", found, address)
	}
	c := dial(t, address)
	var back string
	if err := c.Call(t.Context(), "echo", "ü", &back); err != nil || back != "ü" {
		t.Errorf("echo gives %q, %v", back, err)
	}
	first, events, err := c.Listen(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(stdin, "one")
	e := <-events
	if s := stateOf(t, e); e.Seq != first.Seq+1 || s.Browser == nil || s.Browser.Product != "one" {
		t.Errorf("the event is %+v", e)
	}
	answer, again, err := dial(t, address).Listen(t.Context(), &vscodeipc.Resume{Session: first.Session, Seq: first.Seq})
	if err != nil || !answer.Resumed {
		t.Fatalf("resumed: %+v, %v", answer, err)
	}
	if missed := <-again; missed.Seq != e.Seq {
		t.Errorf("what was missed is %+v", missed)
	}
	stdin.Close()
	<-c.Done()
	var goodbye *vscodeipc.ByeError
	if !errors.As(c.Err(), &goodbye) || goodbye.Reason != "shutdown" {
		t.Errorf("it ended with %v", c.Err())
	}
	if err := node.Wait(); err != nil {
		t.Error(err)
	}
	if found := vscodeipc.Find(vscodeipc.Hash(folder)); len(found) != 0 {
		t.Errorf("it left %v", found)
	}
}

// TestBothLanguagesAgreeOnAShortDirectory: windows of both start at the same time where
// DIR is too long for sockets, and clients find both.
func TestBothLanguagesAgreeOnAShortDirectory(t *testing.T) {
	folder := home(t)
	t.Setenv("XDG_DATA_HOME", filepath.Join(folder, strings.Repeat("d", 120)))
	private, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(private) })
	t.Setenv("XDG_RUNTIME_DIR", private)
	started := make(chan *vscodeipc.Server)
	go func() { started <- serve(t, vscodeipc.ServerOptions{Workspace: folder}) }()
	node, stdin, address := startNodeWindow(t, folder)
	s := <-started
	if dir, other := filepath.Dir(string(address)), filepath.Dir(string(s.Address())); dir != filepath.Join(private, "browser-coordinator-mcp") || dir != other {
		t.Errorf("they listen in %s and %s", dir, other)
	}
	t.Setenv("XDG_RUNTIME_DIR", "") // clients use the file
	if found := vscodeipc.Find(vscodeipc.Hash(folder)); len(found) != 2 {
		t.Errorf("Find returns %v", found)
	}
	if err := dial(t, address).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := dial(t, s.Address()).Ping(t.Context()); err != nil {
		t.Error(err)
	}
	stdin.Close()
	if err := node.Wait(); err != nil {
		t.Error(err)
	}
}

// TestBothLanguagesOnOneName races windows of both languages for one name, with a
// sweeper and killed windows. Each is reachable while it lives, and nothing remains at
// the end. VSCODEIPC_ROUNDS sets the number of rounds.
func TestBothLanguagesOnOneName(t *testing.T) {
	folder := home(t)
	rounds := "30"
	if text := os.Getenv("VSCODEIPC_ROUNDS"); text != "" {
		rounds = text
	}
	var nodes []*exec.Cmd
	ended := make(chan error, 2)
	for range cap(ended) {
		nodes = append(nodes, nodeProgram(t, "window.ts", folder, rounds))
	}
	endSweeper := startSweeper(t)
	for _, node := range nodes {
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { node.Process.Kill() }) // fails if it has ended
		go func() { ended <- node.Wait() }()
	}
	left := len(nodes)
	for round := 0; left > 0; round++ {
		w := startWindow(t, folder)
		if err := dial(t, w.address).Ping(t.Context()); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if round%2 == 0 {
			w.Process.Kill()
		} else {
			w.stdin.Close()
		}
		w.Wait()
		for drained := false; !drained; {
			select {
			case err := <-ended:
				left--
				if err != nil {
					t.Errorf("the extension's windows: %v", err)
				}
			default:
				drained = true
			}
		}
	}
	endSweeper()
	probe(t, nil)
	entries, err := os.ReadDir(filepath.Dir(socketPath(t, folder)))
	if err != nil || len(entries) != 0 {
		t.Errorf("there is left %v, %v", entries, err)
	}
}
