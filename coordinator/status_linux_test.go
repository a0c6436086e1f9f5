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
	dir, shop := t.TempDir(), t.TempDir()
	cmd, shown := onTerminal(t, dir, "status")
	shown.await(t, "\x1b[?1049h", "no endpoint is served")
	openWindow(t, dir, shop)
	shown.await(t, canonical(t, shop), " (terminal, process ")
	cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	shown.await(t, "\x1b[?1049l")
	if _, left, _ := strings.Cut(shown.String(), "\x1b[?1049l"); !strings.Contains(left, canonical(t, shop)) {
		t.Errorf("it leaves %q", left)
	}
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
