//go:build unix

package vscodeipc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// userHome is the home before a test sets another.
var userHome = os.Getenv("HOME")

// buildMinimal builds the window of specs/window-protocol/minimal once, in the directory
// that TestMain removes.
var buildMinimal = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(os.Getenv(parentEnv), "minimal")
	build := exec.Command("go", "build", "-o", binary, "../specs/window-protocol/minimal")
	build.Env = append(os.Environ(), "HOME="+userHome) // Go's cache is there
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return binary, nil
})

// minimalWindow starts the window of specs/window-protocol/minimal. That is written from
// the protocol's text and uses nothing of this package. Each line written to it is a
// state.
func minimalWindow(t *testing.T, folder string) (address Address, cmd *exec.Cmd, states io.WriteCloser) {
	t.Helper()
	binary, err := buildMinimal()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(binary, folder)
	cmd.Stderr = os.Stderr
	states, err = cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill() // fails if the test has ended it
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return Address(strings.TrimSpace(line)), cmd, states
}

func TestMinimalWindow(t *testing.T) {
	folder := home(t)
	address, cmd, states := minimalWindow(t, folder)
	if found := find(Hash(folder)); len(found) != 1 || found[0] != address {
		t.Fatalf("clients find %v, it listens at %s", found, address)
	}
	c := connect(t, address)
	if h := c.hello; h.Version != 2 || h.Workspace == nil || *h.Workspace != folder || h.State.Access.Mode != AccessView {
		t.Errorf("the hello is %+v", h)
	}
	if err := ping(c, t.Context()); err != nil {
		t.Error(err)
	}
	var fault *Error
	if err := c.call(t.Context(), "editor.reveal", nil, nil); !errors.As(err, &fault) || fault.Code != CodeUnknownCommand {
		t.Errorf("a command: %v", err)
	}
	first := listen(t, c)
	fmt.Fprintln(states, `{"debugSessions":[],"browser":{"url":"ws://127.0.0.1:9222/devtools/browser/x","via":"attached"},"pages":[],"access":{"mode":"ask","stopped":[]}}`)
	if e := <-c.events; e.seq != first.Seq+1 {
		t.Errorf("the event is %+v", e)
	}
	if again := dialRaw(t, address).resumes(resume{first.Session, first.Seq}); again["resumed"] != false || again["seq"] != 1.0 || again["state"] == nil {
		t.Errorf("a resume: %v", again)
	}
	if again := listen(t, connect(t, address)); again.State.Browser == nil || again.State.Access.Mode != AccessAsk {
		t.Errorf("another client: %+v", again)
	}
	if v := probeAll(t, ProbeOptions{})[string(address)]; v.Verdict != Live {
		t.Errorf("the verdict is %+v", v)
	}
	if second := serve(t, ServerOptions{Workspace: folder}); string(second.Address()) != strings.Replace(string(address), ".sock", "-2.sock", 1) {
		t.Errorf("a second window listens at %s", second.Address())
	}
	states.Close()
	c.loops.Wait()
	var last *byeError
	if !errors.As(c.ended(), &last) || last.Reason != "shutdown" {
		t.Errorf("it ended with %v", c.ended())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(string(address)); err == nil {
		t.Error("it left its socket")
	}
}

// TestMinimalWindowThatIsKilled: what it leaves is removed.
func TestMinimalWindowThatIsKilled(t *testing.T) {
	address, cmd, _ := minimalWindow(t, home(t))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if v := probeAll(t, ProbeOptions{})[string(address)]; v.Verdict != Stale || !v.Deleted {
		t.Errorf("the verdict is %+v", v)
	}
}

// TestMinimalWindowRefuses sends invalid requests, and checks the codes of section 6. It
// leaves out vectors about commands and payloads: a minimal window may accept more than
// the schema allows.
func TestMinimalWindowRefuses(t *testing.T) {
	address, _, _ := minimalWindow(t, home(t))
	run := 0
	for _, v := range readVectors[invalidVector](t, "invalid") {
		if strings.Contains(fmt.Sprintf("%s", v.Lines), "call") || lenient.MatchString(v.Name) {
			continue
		}
		run++
		t.Run(v.Name, func(t *testing.T) {
			checkInvalid(t, dialRaw(t, address), v)
		})
	}
	if run < 40 {
		t.Errorf("only %d vectors were run", run)
	}
}

var lenient = regexp.MustCompile(`^(hello|listen|cancel)-|surrogate|infinite`)
