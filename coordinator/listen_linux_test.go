package main

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A port that only root may have is refused with the next step.
func TestListenReserved(t *testing.T) {
	t.Parallel()
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start"); err != nil || string(text) != "1024\n" {
		t.Skipf("each user may have the ports from %s on (%v)", text, err)
	}
	runtime.LockOSThread() // the thread ends with the test
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_NET_BIND_SERVICE, 0, 0, 0); err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	out, err := command(t.Context(), t, t.TempDir(), "mcp", "--listen", "127.0.0.1:80").CombinedOutput()
	if exitCode(err) != exitFailure || !strings.Contains(string(out), "reserves that port. Choose one above 1023") {
		t.Errorf("%v %s", err, out)
	}
}
