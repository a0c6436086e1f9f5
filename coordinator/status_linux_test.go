package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal starts a command on a terminal of its own, and returns what it writes there.
func onTerminal(t *testing.T, dir string, args ...string) (*exec.Cmd, *printed) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 200}); err != nil {
		t.Fatal(err)
	}
	cmd, shown := command(context.Background(), t, dir, args...), new(printed)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := master.Read(buffer)
			shown.Write(buffer[:n])
			if err != nil {
				return
			}
		}
	}()
	return cmd, shown
}

// On a terminal the status follows the windows until the user interrupts it, and leaves
// the last one behind.
func TestLive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args           []string
		nothing, there string
	}{
		{[]string{"status"}, "no endpoint is served", " (terminal, process "},
		{[]string{"windows", "--watch"}, "No window is open", "terminal"},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			dir, shop := t.TempDir(), t.TempDir()
			cmd, shown := onTerminal(t, dir, c.args...)
			shown.await(t, "\x1b[?1049h", c.nothing)
			openWindow(t, dir, shop)
			shown.await(t, canonical(t, shop), c.there)
			cmd.Process.Signal(os.Interrupt)
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
			shown.await(t, "\x1b[?1049l")
			if _, left, _ := strings.Cut(shown.String(), "\x1b[?1049l"); !strings.Contains(left, canonical(t, shop)) {
				t.Errorf("it leaves %q", left)
			}
		})
	}
}

// `windows --watch` prints the list at each change where there is no terminal.
func TestWatchedWindows(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), t.TempDir()
	watch, out := command(context.Background(), t, dir, "windows", "--watch", "--json"), new(printed)
	watch.Stdout = out
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	defer watch.Wait()
	defer watch.Process.Signal(os.Interrupt)
	out.await(t, `"windows": []`)
	openWindow(t, dir, shop)
	out.await(t, `"workspace": "`+canonical(t, shop)+`"`, `"via": "launched"`)
}

// The help fills the lines of the terminal.
func TestHelpFillsTerminal(t *testing.T) {
	t.Parallel()
	cmd, shown := onTerminal(t, t.TempDir(), "help", "status")
	shown.await(t, "what clients may do there, who serves the endpoints, and", "Flags:")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
