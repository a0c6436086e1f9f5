//go:build unix

package vscodeipc

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"browser-coordinator/vscodeipc/internal/socket"
)

func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func serveHere(t testing.TB) *Server {
	t.Helper()
	s, err := Serve(t.Context(), ServerOptions{Name: "test", Kind: "terminal", Workspace: "/x"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return s
}

func dataHome(t testing.TB) (dir string) {
	t.Helper()
	root := shortDir(t)
	t.Setenv("HOME", root)
	t.Setenv("XDG_DATA_HOME", root)
	return filepath.Join(root, socket.DirName)
}

func TestModes(t *testing.T) {
	dir := dataHome(t)
	s := serveHere(t)
	for path, want := range map[string]os.FileMode{dir: 0o700, string(s.Address()): 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the socket there is %v, %v", entries, err)
	}
}

// TestAnothersNameIsKept: a window that closes keeps a name that another window has
// taken.
func TestAnothersNameIsKept(t *testing.T) {
	dir := dataHome(t)
	bound, err := socket.Bind(t.Context(), "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("unix", filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	other.(*net.UnixListener).SetUnlinkOnClose(false)
	defer other.Close()
	if err := os.Rename(filepath.Join(dir, "other"), string(bound.Address)); err != nil {
		t.Fatal(err)
	}
	if err := bound.Unbind(t.Context()); err != nil {
		t.Error(err)
	}
	conn, err := net.Dial("unix", string(bound.Address))
	if err != nil {
		t.Fatalf("the other window's name is gone: %v", err)
	}
	conn.Close()
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"wide":    func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o750)) },
		"a file":  func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a link":  func(dir string) error { return errors.Join(os.Mkdir(dir+"-x", 0o700), os.Symlink(dir+"-x", dir)) },
		"foreign": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 65534, 65534)) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "foreign" && os.Getuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			dir := dataHome(t)
			if err := make(dir); err != nil {
				t.Fatal(err)
			}
			if s, err := Serve(t.Context(), ServerOptions{Name: "test", Kind: "terminal"}); !errors.Is(err, ErrForeign) {
				t.Errorf("Serve gives %v, %v", s, err)
			}
			if _, err := Dial(t.Context(), Address(filepath.Join(dir, "ipc-0123456789abcdef.sock")), nil); !errors.Is(err, ErrForeign) {
				t.Errorf("Dial gives %v", err)
			}
			if all, err := List(); !errors.Is(err, ErrForeign) || len(all) != 0 {
				t.Errorf("List gives %v, %v", all, err)
			}
		})
	}
}

func TestForeignSocketIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a socket away")
	}
	dataHome(t)
	s := serveHere(t)
	if err := os.Chown(string(s.Address()), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), s.Address(), nil); !errors.Is(err, ErrForeign) {
		t.Errorf("Dial gives %v", err)
	}
	verdicts, err := Probe(t.Context(), nil)
	if err != nil || len(verdicts) != 1 || verdicts[0].Verdict != Foreign || verdicts[0].Deleted {
		t.Errorf("Probe gives %+v, %v", verdicts, err)
	}
}

// TestPidsOfAFlatpak: its processes have pids of their own, which look like those of
// ended processes.
func TestPidsOfAFlatpak(t *testing.T) {
	home := filepath.Dir(dataHome(t))
	dir := filepath.Join(home, ".var/app/com.visualstudio.code/data/browser-coordinator-mcp")
	lock, binding := filepath.Join(dir, ".lock"), filepath.Join(dir, ".bind-4194305-00000000") // above the largest pid
	if err := errors.Join(os.MkdirAll(binding, 0o700), os.Chmod(dir, 0o700), os.WriteFile(lock, []byte("4194305\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := socket.LockDir(ctx, dir); err == nil {
		t.Error("a lock that somebody may hold was broken")
	}
	os.Remove(lock)
	for _, age := range []time.Duration{0, time.Minute} {
		then := time.Now().Add(-age)
		if err := os.Chtimes(binding, then, then); err != nil {
			t.Fatal(err)
		}
		if _, err := Probe(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(binding); (err == nil) != (age == 0) {
			t.Errorf("what is %v old: %v", age, err)
		}
	}
}
