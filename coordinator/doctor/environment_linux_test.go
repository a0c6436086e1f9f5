package doctor

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestListeningWindows: a socket's name may contain the pid of a process that does not
// have it. Another user's socket must not become advice.
func TestListeningWindows(t *testing.T) {
	for pid, want := range map[int]bool{os.Getpid(): true, os.Getppid(): false} {
		dir, err := os.MkdirTemp("", "d") // short enough for sockets
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		socket := filepath.Join(dir, fmt.Sprintf(".bind-%d-01234567/s", pid))
		if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		windows, err := listeningWindows()
		if err != nil || slices.Contains(windows, listeningWindow{pid, dir}) != want {
			t.Errorf("pid %d: %v, %v", pid, windows, err)
		}
	}
}
