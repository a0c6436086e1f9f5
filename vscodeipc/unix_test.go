//go:build unix

package vscodeipc_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"browser-coordinator/vscodeipc"
)

// socketPath returns the path of a folder's socket, and makes the directory.
func socketPath(t testing.TB, folder string) string {
	t.Helper()
	dir, err := vscodeipc.Dir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "ipc-"+vscodeipc.Hash(folder)+".sock")
}

// listenAs listens where a window without a folder would.
func listenAs(t testing.TB) (*net.UnixListener, vscodeipc.Address) {
	t.Helper()
	path := name(t, 0)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.UnixListener), vscodeipc.Address(path)
}

// deadSocket leaves a socket without a listener.
func deadSocket(t testing.TB, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
}
