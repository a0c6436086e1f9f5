//go:build unix

package vscodeipc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/vscodeipc/internal/socket"
)

// longData makes DIR too long for sockets, and returns it. The tests' own directory
// replaces /tmp, with the same mode.
func longData(t *testing.T) (data string) {
	t.Helper()
	world := shortDir(t)
	if err := os.Chmod(world, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	before := socket.SharedParent
	t.Cleanup(func() { socket.SharedParent = before })
	socket.SharedParent = world
	root := filepath.Join(shortDir(t), strings.Repeat("d", 120))
	for name, value := range map[string]string{"HOME": root, "XDG_DATA_HOME": root, "XDG_RUNTIME_DIR": "", "TMPDIR": ""} {
		t.Setenv(name, value)
	}
	return filepath.Join(root, socket.DirName)
}

// otherUser is the user id for processes of another user.
const otherUser = 54321

func mkdirAsOther(t *testing.T, path string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	cmd := exec.Command("mkdir", path)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// reach finds the window and dials it, as a client does.
func reach(t *testing.T, s *Server) {
	t.Helper()
	found := Find(s.key)
	if len(found) != 1 || found[0] != s.Address() {
		t.Fatalf("Find returns %v, the window listens at %s", found, s.Address())
	}
	c, err := Dial(t.Context(), found[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestShortDirectory: a window whose directory is too long for sockets listens in a
// random one, which a private file names.
func TestShortDirectory(t *testing.T) {
	data := longData(t)
	if _, err := Dir(); err == nil {
		t.Error("a client names a directory before any window has")
	}
	s := serveHere(t)
	dir := filepath.Dir(string(s.Address()))
	if parent, name := filepath.Split(dir); parent != socket.SharedParent+"/" || !strings.HasPrefix(name, "bc-") {
		t.Errorf("it listens in %s", dir)
	}
	text, err := os.ReadFile(filepath.Join(data, socket.ShortName))
	if err != nil || string(text) != dir+"\n" {
		t.Errorf("the file names %q, %v", text, err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(data, socket.ShortName): 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if entries, err := os.ReadDir(data); err != nil || len(entries) != 1 {
		t.Errorf("beside the file there is %v, %v", entries, err)
	}
	reach(t, s)
	if verdicts, err := Probe(t.Context(), nil); err != nil || len(verdicts) != 1 || verdicts[0].Verdict != Live {
		t.Errorf("Probe returns %+v, %v", verdicts, err)
	}
	if _, err := Dial(t.Context(), Address(filepath.Join(data, "ipc-0123456789abcdef.sock")), nil); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a path that is too long gives %v", err)
	}
}

// TestShortDirectoryIsCleaned: the sweep includes the short directory.
func TestShortDirectoryIsCleaned(t *testing.T) {
	data := longData(t)
	dir, err := socket.Usable(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := socket.Bind(t.Context(), "0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	bound.Listener.Close() // as when a process is killed
	left := filepath.Join(data, ".bind-4194305-00000000")
	if err := os.WriteFile(left, nil, 0o600); err != nil { // left by one that was killed while it wrote
		t.Fatal(err)
	}
	verdicts, err := Probe(t.Context(), nil)
	if err != nil || len(verdicts) != 1 || !verdicts[0].Deleted || filepath.Dir(string(verdicts[0].Address)) != dir {
		t.Errorf("Probe returns %+v, %v", verdicts, err)
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("what was left beside the file stays")
	}
}

func TestPrivateParentOfTheShortDirectory(t *testing.T) {
	for name, test := range map[string]struct {
		make func(dir string) error
		used bool
	}{
		"private":        {func(string) error { return nil }, true},
		"others may see": {func(dir string) error { return os.Chmod(dir, 0o755) }, false},
		"missing":        {os.Remove, false},
		"a link":         {func(dir string) error { return errors.Join(os.Remove(dir), os.Symlink("/tmp", dir)) }, false},
		"another's":      {func(dir string) error { return os.Chown(dir, otherUser, otherUser) }, false},
	} {
		for _, variable := range []string{"XDG_RUNTIME_DIR", "TMPDIR"} {
			t.Run(variable+"/"+name, func(t *testing.T) {
				if name == "another's" && os.Getuid() != 0 {
					t.Skip("only root can give a directory away")
				}
				longData(t)
				parent := shortDir(t)
				if err := test.make(parent); err != nil {
					t.Fatal(err)
				}
				t.Setenv(variable, parent)
				s := serveHere(t)
				if dir := filepath.Dir(string(s.Address())); (dir == filepath.Join(parent, socket.DirName)) != test.used {
					t.Errorf("it listens in %s", dir)
				}
				t.Setenv(variable, "") // an MCP host sets few variables for its servers
				reach(t, s)
			})
		}
	}
}

// TestAnotherUserTakesTheName: another user takes a predictable directory name, or the
// name in the file after the directory was removed, as after a restart.
func TestAnotherUserTakesTheName(t *testing.T) {
	data := longData(t)
	mkdirAsOther(t, filepath.Join(socket.SharedParent, socket.DirName+"-0"))
	first := serveHere(t)
	reach(t, first)
	was := filepath.Dir(string(first.Address()))
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(was); err != nil {
		t.Fatal(err)
	}
	mkdirAsOther(t, was)
	if all, err := List(); len(all) != 0 || err != nil {
		t.Errorf("List returns %v, %v", all, err)
	}
	next := serveHere(t)
	if dir := filepath.Dir(string(next.Address())); dir == was {
		t.Errorf("it listens in the other user's directory %s", dir)
	}
	reach(t, next)
	if entries, err := os.ReadDir(was); err != nil || len(entries) != 0 {
		t.Errorf("in the other user's directory there is %v, %v", entries, err)
	}
	if text, err := os.ReadFile(filepath.Join(data, socket.ShortName)); err != nil || string(text) != filepath.Dir(string(next.Address()))+"\n" {
		t.Errorf("the file names %q, %v", text, err)
	}
}

// TestSpoiledShortName: a window moves to where clients find it, and clients are
// notified.
func TestSpoiledShortName(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"deleted":      os.Remove,
		"empty":        func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"relative":     func(file string) error { return os.WriteFile(file, []byte("tmp\n"), 0o600) },
		"of all users": func(file string) error { return os.WriteFile(file, []byte("/tmp\n"), 0o600) },
		"of two lines": func(file string) error { return os.WriteFile(file, []byte("/tmp\n/tmp\n"), 0o600) },
		"wide":         func(file string) error { return os.Chmod(file, 0o644) },
		"a link": func(file string) error {
			// In one step, since the window writes a missing file again.
			return errors.Join(os.Link(file, file+"-x"), os.Symlink(file+"-x", file+"-y"), os.Rename(file+"-y", file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := longData(t)
			s := serveHere(t)
			before := s.Address()
			dirs := WatchDirs(nil)
			defer dirs.Close()
			<-dirs.Changes()
			if err := spoil(filepath.Join(data, socket.ShortName)); err != nil {
				t.Fatal(err)
			}
			limit := time.After(20 * time.Second)
			for found := Find(s.key); len(found) != 1 || found[0] == before; found = Find(s.key) {
				select {
				case <-dirs.Changes():
				case <-limit:
					t.Fatalf("clients find %v", found)
				}
			}
		})
	}
}

// TestWindowsAgreeOnAShortDirectory: windows that start at the same time choose one.
func TestWindowsAgreeOnAShortDirectory(t *testing.T) {
	longData(t)
	servers := make([]*Server, 8)
	var work sync.WaitGroup
	for i := range servers {
		work.Go(func() { servers[i] = serveHere(t) })
	}
	work.Wait()
	dirs := map[string]bool{}
	for _, s := range servers {
		dirs[filepath.Dir(string(s.Address()))] = true
	}
	if len(dirs) != 1 || len(Find(servers[0].key)) != len(servers) {
		t.Errorf("they listen in %v, clients find %v", dirs, Find(servers[0].key))
	}
}
