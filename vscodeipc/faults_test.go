//go:build unix

package vscodeipc_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
)

// TestNameTakenAway removes or replaces a window's socket in every way. The connected
// client notices nothing, and new clients find the window.
func TestNameTakenAway(t *testing.T) {
	for name, test := range map[string]struct {
		do       func(t *testing.T, path string) error
		sameName bool
	}{
		"deleted": {func(_ *testing.T, path string) error { return os.Remove(path) }, true},
		"renamed": {func(_ *testing.T, path string) error { return os.Rename(path, path+".away") }, true},
		"with its directory": {func(_ *testing.T, path string) error {
			os.RemoveAll(filepath.Dir(path)) // fails if the window already has a new socket there
			return nil
		}, true},
		"replaced by a file": {func(_ *testing.T, path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("precious"), 0o600), os.Rename(path+".new", path))
		}, false},
		"replaced by a link": {func(_ *testing.T, path string) error {
			return errors.Join(os.Symlink("/nowhere", path+".new"), os.Rename(path+".new", path))
		}, false},
		"replaced by a live socket": {func(t *testing.T, path string) error {
			answering(t, path+".new", answerHello)
			return os.Rename(path+".new", path)
		}, false},
		"replaced by a dead socket": {func(t *testing.T, path string) error {
			deadSocket(t, path+".new")
			return os.Rename(path+".new", path)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := home(t)
			s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
			before := s.Address()
			c := dial(t, before)
			dirs := watchDirs(t)
			if err := test.do(t, string(before)); err != nil {
				t.Fatal(err)
			}
			for !reachable(t, s) {
				<-dirs.Changes()
			}
			if (s.Address() == before) != test.sameName {
				t.Errorf("it was at %s and is at %s", before, s.Address())
			}
			if err := c.Ping(t.Context()); err != nil {
				t.Errorf("the client from before: %v", err)
			}
			closeServer(t, s)
			for _, a := range vscodeipc.Find(vscodeipc.Hash(folder)) {
				if a != before || test.sameName {
					t.Errorf("after its end there is %s", a)
				}
			}
			if text, err := os.ReadFile(string(before)); strings.HasSuffix(name, "file") && string(text) != "precious" {
				t.Errorf("somebody's file was touched: %q, %v", text, err)
			}
		})
	}
}

// TestNameTakenAwayAgain: the second time the window waits, and then binds its name
// again.
func TestNameTakenAwayAgain(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	dirs := watchDirs(t)
	for round := range 2 {
		start := time.Now()
		if err := os.Remove(string(s.Address())); err != nil {
			t.Fatal(err)
		}
		for !reachable(t, s) {
			<-dirs.Changes()
		}
		if took := time.Since(start); round == 1 && took < 700*time.Millisecond {
			t.Errorf("round %d: it took %v", round, took)
		}
	}
}

// reachable reports whether clients can find the window and reach this one.
func reachable(t *testing.T, s *vscodeipc.Server) bool {
	t.Helper()
	for _, a := range vscodeipc.Find(s.Address().Key()) {
		c, err := vscodeipc.Dial(t.Context(), a, nil)
		if err != nil {
			continue
		}
		c.Close()
		if c.Hello().Session == s.Session() {
			return true
		}
	}
	return false
}

func TestDialRefuses(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	dir := filepath.Dir(string(s.Address()))
	file, link := filepath.Join(dir, "ipc-0000000000000001.sock"), filepath.Join(dir, "ipc-0000000000000002.sock")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(string(s.Address()), link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if _, err := vscodeipc.Dial(t.Context(), vscodeipc.Address(path), nil); !errors.Is(err, vscodeipc.ErrForeign) {
			t.Errorf("%s: %v", path, err)
		}
	}
	missing := vscodeipc.Address(filepath.Join(dir, "ipc-0000000000000003.sock"))
	if _, err := vscodeipc.Dial(t.Context(), missing, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestAllNamesTaken(t *testing.T) {
	folder := home(t)
	for range 9 {
		serve(t, vscodeipc.ServerOptions{Workspace: folder})
	}
	if found := vscodeipc.Find(vscodeipc.Hash(folder)); len(found) != 9 {
		t.Errorf("Find gives %v", found)
	}
	_, err := vscodeipc.Serve(t.Context(), vscodeipc.ServerOptions{Name: "test", Kind: "terminal", Workspace: folder})
	if err == nil || !strings.Contains(err.Error(), "coordinator probe") {
		t.Errorf("the tenth window: %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(socketPath(t, folder)))
	if err != nil || len(entries) != 9 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

func TestKeys(t *testing.T) {
	for address, key := range map[vscodeipc.Address]string{
		"/x/ipc-0123456789abcdef.sock":                         "0123456789abcdef",
		"/x/ipc-0123456789abcdef-2.sock":                       "0123456789abcdef",
		"/x/ipc-pid-17.sock":                                   "pid-17",
		"/x/ipc-pid-17-9.sock":                                 "pid-17",
		`\\.\pipe\browser-coordinator-mcp-0123456789abcdef`:    "0123456789abcdef",
		`\\.\pipe\browser-coordinator-mcp-0123456789abcdef-3`:  "0123456789abcdef",
		`\\.\pipe\browser-coordinator-mcp-0123456789abcdef-33`: "",
		`\\.\pipe\other`:                                       "",
		"/x/ipc-0123456789ABCDEF.sock":                         "",
		"/x/ipc-0123456789abcdef-1.sock":                       "",
		"/x/ipc-0123456789abcdef-10.sock":                      "",
		"/x/ipc-0123456789abcde.sock":                          "",
		"/x/ipc-0123456789abcdef.soc":                          "",
		"/x/ipc-pid-.sock":                                     "",
		"/x/.bind-1-00000000":                                  "",
		"/x/ipc-0123456789abcdef.sock\n":                       "",
	} {
		if got := address.Key(); got != key {
			t.Errorf("%q: the key is %q, want %q", address, got, key)
		}
	}
}

// TestPeerOfAnotherUser needs root to run a process as another user.
func TestPeerOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	// The directory excludes other users. Open it, so that only the check is left.
	dir := filepath.Dir(string(s.Address()))
	for _, path := range []string{filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir), dir, string(s.Address())} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	out, err := runAs(t, 65534, string(s.Address()))
	if err != nil || out != "hung up" {
		t.Errorf("another user's process gets %q, %v", out, err)
	}
	out, err = runAs(t, 0, string(s.Address()))
	if err != nil || !strings.Contains(out, `"success":true`) {
		t.Errorf("our own process gets %q, %v", out, err)
	}
}

// TestWindowOfAnotherUser: every attribute of its socket file is ours. Only the kernel
// reports the user that listens. Needs root, as above.
func TestWindowOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	folder := home(t)
	path := socketPath(t, folder)
	dir := filepath.Dir(path)
	for _, each := range []string{filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir), dir} {
		if err := os.Chmod(each, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	listenAsUser(t, 65534, path)
	if err := errors.Join(os.Chown(path, 0, 0), os.Chmod(path, 0o600), os.Chmod(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := vscodeipc.Dial(t.Context(), vscodeipc.Address(path), nil)
	if !errors.Is(err, vscodeipc.ErrForeign) || !strings.Contains(err.Error(), "runs as uid 65534, not as uid 0") {
		t.Errorf("Dial gives %v", err)
	}
	v := probe(t, nil)[path]
	if v.Verdict != vscodeipc.Foreign || v.Deleted || !strings.Contains(v.Reason, "uid 65534") {
		t.Errorf("the verdict is %+v", v)
	}
}

// askOnce is the helper process of runAs.
func askOnce(path string) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		fmt.Print(err)
		return
	}
	defer conn.Close()
	fmt.Fprintln(conn, `{"id":1,"type":"ping","version":1}`)
	answer := make([]byte, 1<<10)
	n, err := conn.Read(answer)
	if n == 0 && err != nil {
		fmt.Print("hung up")
		return
	}
	fmt.Print(string(answer[:n]))
}
