package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"browser-coordinator/internal/must"
)

// A port that only root may have is refused with the next step.
func TestListenReserved(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread() // the thread ends with the test
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start"); err != nil || string(text) != "1024\n" {
		if refused := ownNetwork(); refused != nil {
			must.Skip(t, "each user may have the ports from %s on (%v), also in a network of its own: %v", text, err, refused)
		}
	}
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_NET_BIND_SERVICE, 0, 0, 0); err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	out, err := command(t.Context(), t, t.TempDir(), "mcp", "--listen", "127.0.0.1:80").CombinedOutput()
	if exitCode(err) != exitFailure || !strings.Contains(string(out), "reserves that port. Choose one above 1023") {
		t.Errorf("%v %s", err, out)
	}
}

// ownNetwork gives this thread and its children a network of their own, in which the system's defaults hold.
func ownNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback)
}
