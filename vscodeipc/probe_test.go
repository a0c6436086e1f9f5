//go:build unix

package vscodeipc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc/internal/socket"
)

// probeAll returns the verdicts by address.
func probeAll(t testing.TB, o ProbeOptions) map[string]Verdict {
	t.Helper()
	return must.Get(probeInTime(t, o))(t)
}

func probeInTime(t testing.TB, o ProbeOptions) (map[string]Verdict, error) {
	t.Helper()
	start := time.Now()
	verdicts, err := Probe(t.Context(), o)
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took) // it hangs: 2 s are specified
	}
	byAddress := map[string]Verdict{}
	for _, v := range verdicts {
		byAddress[string(v.Address)] = v
	}
	return byAddress, err
}

func TestProbeVerdicts(t *testing.T) {
	folder := home(t)
	live := serve(t, ServerOptions{Workspace: folder, Server: ServerInfo{Version: "3"}})
	stopped := startWindow(t, "")
	stopped.stop(t)
	killed := startWindow(t, "/x")
	killed.kill()
	dead, file, link, fifo, dir := name(t, 1), name(t, 2), name(t, 3), name(t, 4), name(t, 5)
	otherName := filepath.Join(filepath.Dir(dead), "other.sock")
	deadSocket(t, dead)
	deadSocket(t, otherName)
	must.Do(t,
		os.WriteFile(file, []byte("precious"), 0o600),
		os.Symlink(string(live.Address()), link),
		syscall.Mkfifo(fifo, 0o600),
		os.Mkdir(dir, 0o700),
	)
	garbage, newer, silent, stateless := name(t, 6), name(t, 7), name(t, 8), name(t, 9)
	fake(t, garbage, script("who are you?\n"))
	fake(t, newer,
		script(`{"id":1,"success":false,"error":{"code":"unsupported_version","message":"too old","data":{"supported":[3]}}}`+
			"\n"))
	fake(t, silent, script(""))
	// Agents need its state too.
	fake(t, stateless,
		script(helloAnswer, `{"id":2,"success":false,"error":{"code":"unknown_event","message":"none"}}`+"\n"))

	want := map[string]string{
		string(live.Address()): Live, stopped.first: Busy, killed.first: Stale,
		dead: Stale, file: Foreign, link: Foreign, fifo: Foreign, dir: Foreign,
		garbage: Incompatible, newer: Incompatible, stateless: Incompatible, silent: Busy,
	}
	for _, dry := range []bool{true, false} {
		verdicts := probeAll(t, ProbeOptions{DryRun: dry})
		if len(verdicts) != len(want) {
			t.Errorf("%d verdicts, want %d", len(verdicts), len(want))
		}
		for address, verdict := range want {
			v := verdicts[address]
			if v.Verdict != verdict || v.Reason == "" || (v.Hello != nil) != (verdict == Live) {
				t.Errorf("%s: got %+v, want %s", address, v, verdict)
			}
			if v.Deleted != (verdict == Stale && !dry) {
				t.Errorf("%s: deleted is %v", address, v.Deleted)
			}
			if _, err := os.Lstat(address); (err != nil) != v.Deleted {
				t.Errorf("%s (%s): %v", address, verdict, err)
			}
		}
		if h := verdicts[string(live.Address())].Hello; h == nil || h.Workspace != folder || h.Server.Version != "3" {
			t.Errorf("the live window's hello is %+v", h)
		}
	}
	if _, err := os.Lstat(otherName); err != nil {
		t.Errorf("a file that is no window's: %v", err)
	}
	stopped.resume(t)
	connect(t, stopped.address()) // it continues normally
}

// TestKilledWindowMakesRoom: a window takes the name of a killed one without a sweep
// first.
func TestKilledWindowMakesRoom(t *testing.T) {
	folder := home(t)
	killed := startWindow(t, folder)
	c := connect(t, killed.address())
	killed.kill()
	c.loops.Wait()
	if _, err := dial(t.Context(), killed.address(), DialOptions{}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial gives %v", err)
	}
	if s := serve(t, ServerOptions{Workspace: folder}); s.Address() != killed.address() {
		t.Errorf("it listens at %s", s.Address())
	}
}

// TestStoppedWindowKeepsItsName: a timeout does not prove that a window is dead.
func TestStoppedWindowKeepsItsName(t *testing.T) {
	folder := home(t)
	stopped := startWindow(t, folder)
	c := connect(t, stopped.address())
	stopped.stop(t)
	s := serve(t, ServerOptions{Workspace: folder})
	if s.Address() == stopped.address() {
		t.Error("the stopped window's name was taken")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := ping(c, ctx); err == nil {
		t.Error("a stopped window answered")
	}
	stopped.resume(t)
	if err := ping(c, t.Context()); err != nil {
		t.Errorf("the connection did not survive: %v", err)
	}
	stopped.end(t)
	if _, err := os.Lstat(stopped.first); err == nil {
		t.Error("a window that ended left its socket")
	}
}

func TestProbeReportsForeignDirectories(t *testing.T) {
	folder := home(t)
	s := serve(t, ServerOptions{Workspace: folder})
	wide := filepath.Join(os.Getenv("HOME"), ".local", "share", "browser-coordinator-mcp")
	must.Do(t, os.MkdirAll(wide, 0o700), os.Chmod(wide, 0o755))
	dead := filepath.Join(wide, filepath.Base(string(s.Address())))
	deadSocket(t, dead)
	verdicts, err := probeInTime(t, ProbeOptions{})
	if !errors.Is(err, socket.ErrForeign) || !strings.Contains(err.Error(), "chmod 700 "+wide) {
		t.Errorf("the error is %v", err)
	}
	if len(verdicts) != 1 || verdicts[string(s.Address())].Verdict != Live {
		t.Errorf("the verdicts are %+v", verdicts)
	}
	if _, err := os.Lstat(dead); err != nil {
		t.Errorf("what is in a directory that others may enter: %v", err)
	}
}

// TestSweepersAndBinders races two sweepers, a third in a process of its own, a window
// that binds and one that closes, around dead sockets. No live socket is ever deleted,
// and no dead one remains. VSCODEIPC_ROUNDS sets the number of rounds.
func TestSweepersAndBinders(t *testing.T) {
	folder := home(t)
	other := filepath.Join(folder, "other")
	path := socketPath(t, Hash(folder))
	sweeper := start(t, "sweeper", "", nil)
	for round := range roundsOr(t, 50) {
		deadSocket(t, path)
		deadSocket(t, name(t, round))
		closing := serve(t, ServerOptions{Workspace: other})
		var bound *Server
		var race sync.WaitGroup
		for range 2 {
			race.Go(func() {
				if _, err := Probe(t.Context(), ProbeOptions{}); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		race.Go(func() { bound = serve(t, ServerOptions{Workspace: folder}) })
		race.Go(func() { closeServer(t, closing) })
		race.Wait()
		if t.Failed() {
			t.FailNow()
		}
		connect(t, bound.Address()).close()
		left, err := List()
		if err != nil || len(left) != 1 || left[0] != bound.Address() {
			t.Fatalf("round %d: %v are left, %v; the window is at %s", round, left, err, bound.Address())
		}
		closeServer(t, bound)
	}
	sweeper.end(t)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 0 {
		t.Errorf("the directory still has %v, %v", entries, err)
	}
}

// TestProbeWhileTheLockIsHeld: a probe takes 2 s at most, even with a stopped window and
// a lock that another process does not release. The verdict names the reason why a
// socket was not deleted.
func TestProbeWhileTheLockIsHeld(t *testing.T) {
	home(t)
	stopped := startWindow(t, "/s")
	stopped.stop(t)
	dead := name(t, 1)
	deadSocket(t, dead)
	lock := filepath.Join(filepath.Dir(dead), ".lock")
	must.Do(t, os.WriteFile(lock, []byte(strconv.Itoa(os.Getppid())+"\n"), 0o600))
	verdicts := probeAll(t, ProbeOptions{})
	if v := verdicts[dead]; v.Verdict != Stale || v.Deleted || !strings.Contains(v.Reason, "not deleted") ||
		!strings.Contains(v.Reason, lock) {
		t.Errorf("the dead one: %+v", v)
	}
	if v := verdicts[stopped.first]; v.Verdict != Busy {
		t.Errorf("the stopped one: %+v", v)
	}
	os.Remove(lock)
	stopped.resume(t)
}
