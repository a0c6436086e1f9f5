//go:build unix

package vscodeipc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
)

// helperEnv makes the test binary a window of its own, so that a test can stop
// or kill it.
const helperEnv = "VSCODEIPC_TEST_WINDOW"

// worldEnv names the directory that the helper processes use in place of /tmp.
const worldEnv = "VSCODEIPC_TEST_WORLD"

func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv(worldEnv); ok {
		vscodeipc.SetWorldParent(dir)
	}
	if workspace, ok := os.LookupEnv(helperEnv); ok {
		if err := beWindow(workspace); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if _, ok := os.LookupEnv(sweepEnv); ok {
		sweepUntilEnd()
		return
	}
	if path, ok := os.LookupEnv(askEnv); ok {
		askOnce(path)
		return
	}
	if path, ok := os.LookupEnv(listenEnv); ok {
		listenUntilEnd(path)
		return
	}
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	vscodeipc.SetWorldParent(dir)
	os.Setenv(worldEnv, dir)
	os.Unsetenv("XDG_RUNTIME_DIR") // a test that needs it sets it
	code := m.Run()
	os.RemoveAll(dir)
	if left := leftGoroutines(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines outlived the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// beWindow serves a window until stdin ends, and then closes it.
func beWindow(workspace string) error {
	s, err := vscodeipc.Serve(context.Background(), vscodeipc.ServerOptions{
		Workspace: workspace, Kind: "terminal", Name: "helper",
		Commands: map[string]vscodeipc.Handler{"wait": waitForCancel}, NoDeadline: []string{"wait"},
	})
	if err != nil {
		return err
	}
	fmt.Println(s.Address())
	io.Copy(io.Discard, os.Stdin)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return s.Close(ctx)
}

// sweepEnv makes the test binary a process that sweeps continuously.
const sweepEnv = "VSCODEIPC_TEST_SWEEP"

// sweepUntilEnd probes without a pause until stdin ends.
func sweepUntilEnd() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	for ctx.Err() == nil {
		if _, err := vscodeipc.Probe(ctx, nil); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// startSweeper starts such a process; end ends it.
func startSweeper(t *testing.T) (end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sweepEnv+"=1", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the sweeping process: %v", err)
		}
	})
	t.Cleanup(end)
	return end
}

func waitForCancel(ctx context.Context, _ vscodeipc.Call) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// window is a helper process.
type window struct {
	*exec.Cmd
	address vscodeipc.Address
	stdin   io.Closer
}

// startWindow starts a window in a process of its own, which ends with the test.
func startWindow(t *testing.T, workspace string) *window {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+workspace, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
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
		cmd.Process.Kill() // an error means that the test has ended it
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the helper window did not start: %v", err)
	}
	return &window{cmd, vscodeipc.Address(strings.TrimSpace(line)), stdin}
}

// leftGoroutines returns the stacks of the package's goroutines that still run a little
// after the tests.
func leftGoroutines() string {
	var left []string
	for range 100 {
		buffer := make([]byte, 1<<20)
		left = nil
		for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
			if strings.Contains(stack, "browser-coordinator/vscodeipc.") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return ""
		}
		runtime.Gosched()
		time.Sleep(20 * time.Millisecond) // the runtime has no event for the end of a goroutine
	}
	return strings.Join(left, "\n\n")
}
