//go:build unix

package vscodeipc

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

	"browser-coordinator/internal/must"
)

// nodeProgram builds a program of testdata on the extension's core.
func nodeProgram(t *testing.T, source string, args ...string) *exec.Cmd {
	t.Helper()
	esbuild := must.Get(filepath.Abs("../extension/node_modules/.bin/esbuild"))(t)
	if _, err := os.Stat(esbuild); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the extension's tools are not installed; run: npm ci in extension/")
	}
	script := filepath.Join(t.TempDir(), "program.mjs")
	// Some modules are CommonJS, which a module of the other kind lacks require for.
	const require = `--banner:js=import { createRequire } from "node:module"; ` +
		`const require = createRequire(import.meta.url);`
	build := exec.Command(esbuild, "testdata/"+source, "--bundle", "--platform=node", "--format=esm", require,
		"--log-level=warning", "--outfile="+script)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v: %s", source, err, out)
	}
	cmd := exec.Command("node", append([]string{script}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// startNode starts a window of the extension's core, which serves until its stdin ends.
func startNode(t *testing.T, node *exec.Cmd) (stdin io.WriteCloser, address Address) {
	t.Helper()
	stdin = must.Get(node.StdinPipe())(t)
	stdout := must.Get(node.StdoutPipe())(t)
	must.Do(t, node.Start())
	t.Cleanup(func() {
		node.Process.Kill() // fails if it has ended
		node.Wait()
	})
	line := must.Get(bufio.NewReader(stdout).ReadString('\n'))(t)
	return stdin, Address(strings.TrimSpace(line))
}

// TestClientOfTheExtensionsWindow connects this package's client to the extension's
// server.
func TestClientOfTheExtensionsWindow(t *testing.T) {
	folder := home(t)
	node := nodeProgram(t, "window.ts", folder, "serve")
	stdin, address := startNode(t, node)
	if found := find(Hash(folder)); len(found) != 1 || found[0] != address {
		t.Errorf("clients find %v, it listens at %s", found, address)
	}
	c := connect(t, address)
	var back string
	if err := c.call(t.Context(), "echo", "ü", &back); err != nil || back != "ü" {
		t.Errorf("echo gives %q, %v", back, err)
	}
	first := listen(t, c)
	fmt.Fprintln(stdin, "one")
	e := <-c.events
	if s := stateOf(t, e); e.seq != first.Seq+1 || s.Browser == nil || s.Browser.Product != "one" {
		t.Errorf("the event is %+v", e)
	}
	if again := listen(t, connect(t, address)); again.State.Browser == nil || again.State.Browser.Product != "one" {
		t.Errorf("another client: %+v", again)
	}
	stdin.Close()
	c.loops.Wait()
	var last *byeError
	if !errors.As(c.endError(), &last) || last.Reason != "shutdown" {
		t.Errorf("it ended with %v", c.endError())
	}
	if err := node.Wait(); err != nil {
		t.Error(err)
	}
	if found := find(Hash(folder)); len(found) != 0 {
		t.Errorf("it left %v", found)
	}
}

// TestBothLanguagesAgreeOnAShortDirectory: windows of both start at the same time where
// DIR is too long for sockets, and clients find both.
func TestBothLanguagesAgreeOnAShortDirectory(t *testing.T) {
	folder := home(t)
	t.Setenv("XDG_DATA_HOME", filepath.Join(folder, strings.Repeat("d", 120)))
	private := shortDir(t)
	t.Setenv("XDG_RUNTIME_DIR", private)
	node := nodeProgram(t, "window.ts", folder, "serve") // may skip the test
	started := make(chan *Server)
	go func() {
		s, err := Serve(t.Context(), ServerOptions{Workspace: folder,
			Server: ServerInfo{Name: "test", Kind: "terminal"}})
		if err != nil {
			t.Error(err)
		}
		started <- s
	}()
	stdin, address := startNode(t, node)
	s := <-started
	if s == nil {
		return
	}
	defer closeServer(t, s)
	if dir, other := filepath.Dir(string(address)), filepath.Dir(string(s.Address())); dir != filepath.Join(private,
		"browser-coordinator-mcp") || dir != other {
		t.Errorf("they listen in %s and %s", dir, other)
	}
	t.Setenv("XDG_RUNTIME_DIR", "") // clients use the file
	if found := find(Hash(folder)); len(found) != 2 {
		t.Errorf("clients find %v", found)
	}
	for _, a := range []Address{address, s.Address()} {
		if err := ping(connect(t, a), t.Context()); err != nil {
			t.Error(err)
		}
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
	rounds := fmt.Sprint(roundsOr(t, 30))
	var nodes []*exec.Cmd
	ended := make(chan error, 2)
	for range cap(ended) {
		nodes = append(nodes, nodeProgram(t, "window.ts", folder, rounds))
	}
	sweeper := start(t, "sweeper", "", nil)
	for _, node := range nodes {
		must.Do(t, node.Start())
		t.Cleanup(func() { node.Process.Kill() }) // fails if it has ended
		go func() { ended <- node.Wait() }()
	}
	remaining := len(nodes)
	for round := 0; remaining > 0; round++ {
		w := startWindow(t, folder)
		if err := ping(connect(t, w.address()), t.Context()); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if round%2 == 0 {
			w.kill()
		} else {
			w.end(t)
		}
		for drained := false; !drained; {
			select {
			case err := <-ended:
				remaining--
				if err != nil {
					t.Errorf("the extension's windows: %v", err)
				}
			default:
				drained = true
			}
		}
	}
	sweeper.end(t)
	probeAll(t, ProbeOptions{})
	entries, err := os.ReadDir(filepath.Dir(socketPath(t, "")))
	if err != nil || len(entries) != 0 {
		t.Errorf("there is left %v, %v", entries, err)
	}
}
