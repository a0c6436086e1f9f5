//go:build unix

package vscodeipc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
)

// name returns the path of the nth of many sockets.
func name(t testing.TB, n int) string {
	return filepath.Join(filepath.Dir(socketPath(t, "/")), fmt.Sprintf("ipc-pid-%d.sock", n+1))
}

func probe(t *testing.T, o *vscodeipc.ProbeOptions) map[string]vscodeipc.Verdict {
	t.Helper()
	start := time.Now()
	verdicts, err := vscodeipc.Probe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 2500*time.Millisecond {
		t.Errorf("it took %v", took) // 2 s, and a margin for a busy machine under the race detector
	}
	byAddress := map[string]vscodeipc.Verdict{}
	for _, v := range verdicts {
		byAddress[string(v.Address)] = v
	}
	return byAddress
}

// stop returns when the window's process has stopped.
func stop(t *testing.T, w *window) {
	t.Helper()
	if err := w.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(w.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the window did not stop: %v, %v", status, err)
	}
}

func TestProbeVerdicts(t *testing.T) {
	folder := home(t)
	live := serve(t, vscodeipc.ServerOptions{Workspace: folder, Version: "3"})
	stopped := startWindow(t, "")
	stop(t, stopped)
	killed := startWindow(t, "/x")
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.Wait()
	dead, file, link, fifo, dir := name(t, 1), name(t, 2), name(t, 3), name(t, 4), name(t, 5)
	otherName := filepath.Join(filepath.Dir(dead), "other.sock")
	deadSocket(t, dead)
	deadSocket(t, otherName)
	for _, err := range []error{
		os.WriteFile(file, []byte("precious"), 0o600),
		os.Symlink(string(live.Address()), link),
		syscall.Mkfifo(fifo, 0o600),
		os.Mkdir(dir, 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	garbage := answering(t, name(t, 6), func([]byte) []byte { return []byte("who are you?\n") })
	newer := answering(t, name(t, 7), func([]byte) []byte {
		return []byte(`{"id":1,"success":false,"error":{"code":"unsupported_version","message":"too old","data":{"supported":[3]}}}` + "\n")
	})
	silent := answering(t, name(t, 8), func([]byte) []byte { return nil })

	want := map[string]string{
		string(live.Address()): vscodeipc.Live, string(stopped.address): vscodeipc.Busy, string(killed.address): vscodeipc.Stale,
		dead: vscodeipc.Stale, file: vscodeipc.Foreign, link: vscodeipc.Foreign, fifo: vscodeipc.Foreign, dir: vscodeipc.Foreign,
		garbage: vscodeipc.Incompatible, newer: vscodeipc.Incompatible, silent: vscodeipc.Busy,
	}
	check := func(o *vscodeipc.ProbeOptions) map[string]vscodeipc.Verdict {
		t.Helper()
		verdicts := probe(t, o)
		if len(verdicts) != len(want) {
			t.Errorf("%d verdicts, want %d", len(verdicts), len(want))
		}
		for address, verdict := range want {
			v := verdicts[address]
			if v.Verdict != verdict || v.Reason == "" || (v.Hello != nil) != (verdict == vscodeipc.Live) {
				t.Errorf("%s: got %+v, want %s", address, v, verdict)
			}
			if wantDeleted := verdict == vscodeipc.Stale && o == nil; v.Deleted != wantDeleted {
				t.Errorf("%s: deleted is %v", address, v.Deleted)
			}
			if _, err := os.Lstat(address); (err != nil) != v.Deleted {
				t.Errorf("%s (%s): %v", address, verdict, err)
			}
		}
		if _, err := os.Lstat(otherName); err != nil {
			t.Errorf("a file that is no window's: %v", err)
		}
		return verdicts
	}
	check(&vscodeipc.ProbeOptions{DryRun: true})
	if h := check(nil)[string(live.Address())].Hello; h == nil || *h.Workspace != folder || h.Server.Version != "3" {
		t.Errorf("the live window's hello is %+v", h)
	}
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	dial(t, stopped.address) // it continues normally
}

// TestKilledWindowMakesRoom: a window takes the name of a killed one without a sweep
// first.
func TestKilledWindowMakesRoom(t *testing.T) {
	folder := home(t)
	killed := startWindow(t, folder)
	c := dial(t, killed.address)
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.Wait()
	<-c.Done()
	if _, err := vscodeipc.Dial(t.Context(), killed.address, nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Dial gives %v", err)
	}
	if s := serve(t, vscodeipc.ServerOptions{Workspace: folder}); s.Address() != killed.address {
		t.Errorf("it listens at %s", s.Address())
	}
}

// TestStoppedWindowKeepsItsName: a timeout does not prove that a window is dead.
func TestStoppedWindowKeepsItsName(t *testing.T) {
	folder := home(t)
	stopped := startWindow(t, folder)
	c := dial(t, stopped.address)
	stop(t, stopped)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	if s.Address() == stopped.address {
		t.Error("the stopped window's name was taken")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := c.Ping(ctx); err == nil {
		t.Error("a stopped window answered")
	}
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("the connection did not survive: %v", err)
	}
	stopped.stdin.Close()
	if err := stopped.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(string(stopped.address)); err == nil {
		t.Error("a window that ended left its socket")
	}
}

func TestProbeFiveHundred(t *testing.T) {
	home(t)
	for n := range 250 {
		answering(t, name(t, 2*n), answerHello)
		deadSocket(t, name(t, 2*n+1))
	}
	verdicts := probe(t, nil)
	if len(verdicts) != 500 {
		t.Fatalf("%d verdicts", len(verdicts))
	}
	for n := range 250 {
		if v := verdicts[name(t, 2*n)]; v.Verdict != vscodeipc.Live {
			t.Errorf("a live one is %+v", v)
		}
		if v := verdicts[name(t, 2*n+1)]; v.Verdict != vscodeipc.Stale || !v.Deleted {
			t.Errorf("a dead one is %+v", v)
		}
	}
	if left, err := vscodeipc.List(); err != nil || len(left) != 250 {
		t.Errorf("%d are left, %v", len(left), err)
	}
}

// TestProbeManyThatHang: more windows hang than are probed at the same time. Those that
// are probed last still get their verdict.
func TestProbeManyThatHang(t *testing.T) {
	home(t)
	const silent = 600
	for n := range silent {
		answering(t, name(t, n), func([]byte) []byte { return nil })
	}
	live := answering(t, name(t, silent), answerHello)
	dead := name(t, silent+1)
	deadSocket(t, dead)
	verdicts := probe(t, nil)
	for n := range silent {
		if v := verdicts[name(t, n)]; v.Verdict != vscodeipc.Busy || v.Reason != "it took the connection but did not answer in time" {
			t.Fatalf("number %d, which is silent: %+v", n, v)
		}
	}
	if v := verdicts[live]; v.Verdict != vscodeipc.Live {
		t.Errorf("the live one: %+v", v)
	}
	if v := verdicts[dead]; v.Verdict != vscodeipc.Stale || !v.Deleted {
		t.Errorf("the dead one: %+v", v)
	}
}

func answerHello([]byte) []byte {
	return []byte(`{"id":1,"success":true,"payload":{"version":1,"server":{"name":"x","version":"","kind":"vscode"},"session":"s","pid":1,"workspace":null,"folders":[],"commands":[],"events":["state"],"seq":0,"state":{"revision":0,"debugSessions":[],"browser":null,"pages":[]}}}` + "\n")
}

// answering listens at a path and responds to the first bytes of each client.
func answering(t testing.TB, path string, answer func([]byte) []byte) string {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var owned sync.WaitGroup
	owned.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			owned.Go(func() {
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(10 * time.Second))
				first := make([]byte, 1<<10)
				n, _ := conn.Read(first)
				conn.Write(answer(first[:n]))
				conn.Read(first) // until the client disconnects
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		owned.Wait()
	})
	return path
}

// TestLeftoversOfTheDead: the files of a process that died while it bound a socket.
func TestLeftoversOfTheDead(t *testing.T) {
	home(t)
	gone := startWindow(t, "/x")
	gone.Process.Kill()
	gone.Wait()
	dir := filepath.Dir(name(t, 1))
	ours := filepath.Join(dir, fmt.Sprintf(".bind-%d-00000000", os.Getpid()))
	theirs := filepath.Join(dir, fmt.Sprintf(".bind-%d-00000000", gone.Process.Pid))
	deadSocket(t, ours)
	deadSocket(t, theirs)
	folder, full := filepath.Join(dir, fmt.Sprintf(".bind-%d-00000001", gone.Process.Pid)), filepath.Join(dir, fmt.Sprintf(".bind-%d-00000002", gone.Process.Pid))
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Mkdir(full, 0o700), os.WriteFile(filepath.Join(full, "notes"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	deadSocket(t, filepath.Join(folder, "s"))
	probe(t, &vscodeipc.ProbeOptions{DryRun: true})
	if _, err := os.Lstat(theirs); err != nil {
		t.Errorf("a dry run: %v", err)
	}
	probe(t, nil)
	if _, err := os.Lstat(theirs); err == nil {
		t.Error("the dead one's leftover stays")
	}
	if _, err := os.Lstat(folder); err == nil {
		t.Error("the folder that it made its socket in stays")
	}
	if _, err := os.Lstat(full); err != nil {
		t.Errorf("a folder with more than a socket: %v", err)
	}
	if _, err := os.Lstat(ours); err != nil {
		t.Errorf("what a living process made: %v", err)
	}
}

func TestProbeTellsOfForeignDirectories(t *testing.T) {
	folder := home(t)
	s := serve(t, vscodeipc.ServerOptions{Workspace: folder})
	wide := filepath.Join(os.Getenv("HOME"), ".local", "share", "browser-coordinator-mcp")
	if err := errors.Join(os.MkdirAll(wide, 0o700), os.Chmod(wide, 0o755)); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(wide, filepath.Base(string(s.Address())))
	deadSocket(t, dead)
	verdicts, err := vscodeipc.Probe(t.Context(), nil)
	if !errors.Is(err, vscodeipc.ErrForeign) || !strings.Contains(err.Error(), "chmod 700 "+wide) {
		t.Errorf("the error is %v", err)
	}
	if len(verdicts) != 1 || verdicts[0].Verdict != vscodeipc.Live {
		t.Errorf("the verdicts are %+v", verdicts)
	}
	if _, err := os.Lstat(dead); err != nil {
		t.Errorf("what is in a directory that others may enter: %v", err)
	}
	if found := vscodeipc.Find(vscodeipc.Hash(folder)); len(found) != 1 || found[0] != s.Address() {
		t.Errorf("Find gives %v", found)
	}
}

// TestSweepersAndBinders races two sweepers, a third in a process of its own, a window
// that binds and one that closes, around dead sockets. No live socket is ever deleted,
// and no dead one remains. VSCODEIPC_ROUNDS sets the number of rounds.
func TestSweepersAndBinders(t *testing.T) {
	folder := home(t)
	other := filepath.Join(folder, "other")
	rounds := 50
	if text := os.Getenv("VSCODEIPC_ROUNDS"); text != "" {
		if _, err := fmt.Sscan(text, &rounds); err != nil {
			t.Fatal(err)
		}
	}
	path := socketPath(t, folder)
	endSweeper := startSweeper(t)
	for round := range rounds {
		deadSocket(t, path)
		deadSocket(t, name(t, round))
		closing := serve(t, vscodeipc.ServerOptions{Workspace: other})
		var bound *vscodeipc.Server
		var race sync.WaitGroup
		for range 2 {
			race.Go(func() {
				if _, err := vscodeipc.Probe(t.Context(), nil); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		race.Go(func() { bound = serve(t, vscodeipc.ServerOptions{Workspace: folder}) })
		race.Go(func() { closeServer(t, closing) })
		race.Wait()
		if t.Failed() {
			t.FailNow()
		}
		dial(t, bound.Address()).Close()
		left, err := vscodeipc.List()
		if err != nil || len(left) != 1 || left[0] != bound.Address() {
			t.Fatalf("round %d: %v are left, %v; the window is at %s", round, left, err, bound.Address())
		}
		closeServer(t, bound)
	}
	endSweeper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 0 {
		t.Errorf("the directory still has %v, %v", entries, err)
	}
}

// TestGarbageHurtsNobodyElse: a window that receives garbage stays live for all other
// clients.
func TestGarbageHurtsNobodyElse(t *testing.T) {
	s := vectorWindow(t)
	c := dial(t, s.Address())
	bad := dialRaw(t, s.Address())
	bad.Write(bytes.Repeat([]byte{0xff, 0, '{'}, 4<<20)) // the window disconnects before the end
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if v := probe(t, nil)[string(s.Address())]; v.Verdict != vscodeipc.Live {
		t.Errorf("the verdict is %+v", v)
	}
}

// TestProbeWhileTheLockIsHeld: a probe takes 2 s at most, even with a stopped window and
// a lock that another process does not release. The verdict names the reason why a
// socket was not deleted.
func TestProbeWhileTheLockIsHeld(t *testing.T) {
	home(t)
	stopped := startWindow(t, "/s")
	stop(t, stopped)
	dead := name(t, 1)
	deadSocket(t, dead)
	lock := filepath.Join(filepath.Dir(dead), ".lock")
	if err := os.WriteFile(lock, []byte(strconv.Itoa(os.Getppid())+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	verdicts, err := vscodeipc.Probe(t.Context(), nil)
	if took := time.Since(began); took > 2500*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	if err == nil || !strings.Contains(err.Error(), lock) {
		t.Errorf("the error does not tell of the lock: %v", err)
	}
	got := map[string]string{}
	for _, v := range verdicts {
		got[string(v.Address)] = v.Verdict
		if v.Verdict == vscodeipc.Stale && (v.Deleted || !strings.Contains(v.Reason, "not deleted")) {
			t.Errorf("the dead one: %+v", v)
		}
	}
	if got[dead] != vscodeipc.Stale || got[string(stopped.address)] != vscodeipc.Busy {
		t.Errorf("the verdicts are %v", got)
	}
	os.Remove(lock)
	if err := stopped.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
