//go:build unix

package vscodeipc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc/internal/socket"
)

func TestModes(t *testing.T) {
	s := serve(t, ServerOptions{Workspace: home(t)})
	dir := filepath.Dir(string(s.Address()))
	checkMode(t, dir, 0o700)
	checkMode(t, string(s.Address()), 0o600)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside the socket there is %v, %v", entries, err)
	}
}

func checkMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != want {
		t.Errorf("%s: %v, %v", path, info, err)
	}
}

// TestAnothersNameIsKept: a window that closes keeps a name that another window has
// taken.
func TestAnothersNameIsKept(t *testing.T) {
	home(t)
	bound := must.Get(socket.Bind(t.Context(), "0123456789abcdef"))(t)
	path := string(bound.Address)
	other := fake(t, path+".new", script(helloAnswer))
	must.Do(t, os.Rename(string(other), path))
	if err := bound.Unbind(t.Context()); err != nil {
		t.Error(err)
	}
	dialRaw(t, bound.Address)
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"wide":   func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o750)) },
		"a file": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a link": func(dir string) error { return errors.Join(os.Mkdir(dir+"-x", 0o700), os.Symlink(dir+"-x", dir)) },
		"foreign": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700),
				os.Chown(dir, otherUser, otherUser))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "foreign" {
				asOther(t)
			}
			home(t)
			dir := filepath.Dir(socketPath(t, ""))
			must.Do(t, os.Remove(dir), make(dir))
			if s, err := Serve(t.Context(), ServerOptions{Server: ServerInfo{Name: "test",
				Kind: "terminal"}}); !errors.Is(err, socket.ErrForeign) {
				t.Errorf("Serve gives %v, %v", s, err)
			}
			if _, err := dial(t.Context(), Address(filepath.Join(dir, "ipc-0123456789abcdef.sock")),
				DialOptions{}); !errors.Is(err, socket.ErrForeign) {
				t.Errorf("dial gives %v", err)
			}
			if all, err := List(); !errors.Is(err, socket.ErrForeign) || len(all) != 0 {
				t.Errorf("List gives %v, %v", all, err)
			}
		})
	}
}

// openToAll lets other users reach a path in the test's data directory.
func openToAll(t *testing.T, path string) {
	t.Helper()
	dir := filepath.Dir(path)
	for _, folder := range []string{filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir), dir} {
		must.Do(t, os.Chmod(folder, 0o777))
	}
}

// TestPeerOfAnotherUser: the directory, which excludes other users, is open here. Only
// the check of the peer is left.
func TestPeerOfAnotherUser(t *testing.T) {
	other := asOther(t)
	s := serve(t, ServerOptions{Workspace: home(t)})
	path := string(s.Address())
	openToAll(t, path)
	must.Do(t, os.Chmod(path, 0o777))
	if p := start(t, "client", path, other); p.first != "hung up" {
		t.Errorf("another user's process gets %q", p.first)
	}
	if p := start(t, "client", path, nil); !strings.Contains(p.first, `"success":true`) {
		t.Errorf("our own process gets %q", p.first)
	}
}

// TestWindowOfAnotherUser: first its socket file is foreign. Then every attribute of the
// file is ours, and only the kernel reports the user that listens.
func TestWindowOfAnotherUser(t *testing.T) {
	other := asOther(t)
	home(t)
	path := name(t, 0)
	openToAll(t, path)
	start(t, "listener", path, other)
	must.Do(t, os.Chmod(filepath.Dir(path), 0o700))
	for _, reason := range []string{"belongs to uid 54321, not to uid 0", "runs as uid 54321, not as uid 0"} {
		_, err := dial(t.Context(), Address(path), DialOptions{})
		if !errors.Is(err, socket.ErrForeign) || !strings.Contains(err.Error(), reason) {
			t.Errorf("dial gives %v", err)
		}
		if v := probeAll(t, ProbeOptions{})[path]; v.Verdict != Foreign || v.Deleted ||
			!strings.Contains(v.Reason, reason) {
			t.Errorf("the verdict is %+v", v)
		}
		must.Do(t, os.Chown(path, 0, 0), os.Chmod(path, 0o600))
	}
}

// longData makes DIR too long for sockets, and returns it. The tests' own directory
// replaces /tmp, with the same mode.
func longData(t *testing.T) (data string) {
	t.Helper()
	parent := shortDir(t)
	must.Do(t, os.Chmod(parent, 0o777|os.ModeSticky))
	before := socket.SharedParent
	t.Cleanup(func() { socket.SharedParent = before })
	socket.SharedParent = parent
	root := filepath.Join(shortDir(t), strings.Repeat("d", 120))
	for name, value := range map[string]string{"HOME": root, "XDG_DATA_HOME": root, "XDG_RUNTIME_DIR": "",
		"TMPDIR": ""} {
		t.Setenv(name, value)
	}
	return filepath.Join(root, socket.DirName)
}

// serveHere serves a window, and reaches it as a client does.
func serveHere(t *testing.T) (dir string) {
	t.Helper()
	s := serve(t, ServerOptions{Workspace: "/x"})
	if !reachable(t, s) {
		t.Fatalf("clients do not find the window at %s", s.Address())
	}
	return filepath.Dir(string(s.Address()))
}

// TestShortDirectory: a window whose directory is too long for sockets listens in a
// random one, which a private file names. Windows that start at the same time choose
// one, and a sweep includes it.
func TestShortDirectory(t *testing.T) {
	data := longData(t)
	ended := make(chan struct{}, 8)
	for range cap(ended) {
		go func() {
			defer func() { ended <- struct{}{} }()
			serve(t, ServerOptions{Workspace: "/x"})
		}()
	}
	for range cap(ended) {
		<-ended
	}
	found := find(Hash("/x"))
	if len(found) != cap(ended) {
		t.Fatalf("clients find %v", found)
	}
	dir := filepath.Dir(string(found[0]))
	if parent, name := filepath.Split(dir); parent != socket.SharedParent+"/" || !strings.HasPrefix(name, "bc-") {
		t.Errorf("it listens in %s", dir)
	}
	file := filepath.Join(data, socket.ShortName)
	if text, err := os.ReadFile(file); err != nil || string(text) != dir+"\n" {
		t.Errorf("the file names %q, %v", text, err)
	}
	checkMode(t, dir, 0o700)
	checkMode(t, file, 0o600)
	if entries, err := os.ReadDir(data); err != nil || len(entries) != 1 {
		t.Errorf("beside the file there is %v, %v", entries, err)
	}
	killed := must.Get(socket.Bind(t.Context(), "0123456789abcdef"))(t)
	killed.Listener.Close() // as when its process is killed
	v := probeAll(t, ProbeOptions{})
	if len(v) != cap(ended)+1 || v[string(found[0])].Verdict != Live || !v[string(killed.Address)].Deleted {
		t.Errorf("Probe returns %+v", v)
	}
	if _, err := dial(t.Context(), Address(filepath.Join(data, "ipc-0123456789abcdef.sock")),
		DialOptions{}); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a path that is too long gives %v", err)
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
		"a link": {func(dir string) error { return errors.Join(os.Remove(dir), os.Symlink("/tmp", dir)) },
			false},
		"another's": {func(dir string) error { return os.Chown(dir, otherUser, otherUser) }, false},
	} {
		for _, variable := range []string{"XDG_RUNTIME_DIR", "TMPDIR"} {
			t.Run(variable+"/"+name, func(t *testing.T) {
				if name == "another's" {
					asOther(t)
				}
				longData(t)
				parent := shortDir(t)
				must.Do(t, test.make(parent))
				t.Setenv(variable, parent)
				s := serve(t, ServerOptions{Workspace: "/x"})
				if dir := filepath.Dir(string(s.Address())); (dir == filepath.Join(parent,
					socket.DirName)) != test.used {
					t.Errorf("it listens in %s", dir)
				}
				t.Setenv(variable, "") // an MCP host sets few variables for its servers
				if !reachable(t, s) {
					t.Error("clients do not find it")
				}
			})
		}
	}
}

// TestAnotherUserTakesTheName: another user takes a predictable directory name, or the
// name in the file after the directory was removed, as after a restart.
func TestAnotherUserTakesTheName(t *testing.T) {
	asOther(t)
	data := longData(t)
	takeByOther := func(path string) { must.Do(t, os.Mkdir(path, 0o700), os.Chown(path, otherUser, otherUser)) }
	takeByOther(filepath.Join(socket.SharedParent, socket.DirName+"-0"))
	var previous string
	t.Run("predictable", func(t *testing.T) { previous = serveHere(t) }) // and closes it
	must.Do(t, os.Remove(previous))
	takeByOther(previous)
	if all, err := List(); len(all) != 0 || err != nil {
		t.Errorf("List returns %v, %v", all, err)
	}
	next := serveHere(t)
	if next == previous {
		t.Errorf("it listens in the other user's directory %s", previous)
	}
	if entries, err := os.ReadDir(previous); err != nil || len(entries) != 0 {
		t.Errorf("in the other user's directory there is %v, %v", entries, err)
	}
	if text, err := os.ReadFile(filepath.Join(data, socket.ShortName)); err != nil || string(text) != next+"\n" {
		t.Errorf("the file names %q, %v", text, err)
	}
}

// TestSpoiledShortName: the next window listens where clients find it, and clients are
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
			return errors.Join(os.Rename(file, file+"-x"), os.Symlink(file+"-x", file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			data := longData(t)
			serve(t, ServerOptions{Workspace: "/x"})
			dirs := watchDirs(t)
			must.Do(t, spoil(filepath.Join(data, socket.ShortName)))
			next := serve(t, ServerOptions{Workspace: "/y"})
			awaitFound(t, dirs, func() bool { return reachable(t, next) })
		})
	}
}
