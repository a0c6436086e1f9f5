package userchrome

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"browser-coordinator/cdpproxy/partial"
	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/background"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/internal/desktoptest"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/must"
)

// The test binary becomes the process that owns a connection.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == OwnerCommand {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		if err := Own(ctx, os.Args[2], os.Args[3], background.Ready, slog.New(slog.DiscardHandler)); err != nil {
			_ = background.Fail(err.Error()) // the starter may have its answer
		}
		return
	}
	os.Exit(m.Run())
}

// home is a home folder without anything, with a Chromium's profile folder in it.
func home(t *testing.T) (profile string) {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Cleanup(func() {
		must.Await(t, "the process that owned the connection ends", func() bool {
			return len(Connections(context.Background())) == 0
		})
	})
	return filepath.Join(dir, "config", "chromium")
}

func source(t *testing.T, name string) *launch.OnDemand {
	t.Helper()
	b, ok, err := Parse(name)
	if err != nil || !ok {
		t.Fatal(name, ok, err)
	}
	o := launch.New(New(b, slog.New(slog.DiscardHandler)))
	t.Cleanup(func() { must.Do(t, o.End()) })
	return o
}

// opened is the result of an Open under way.
type opened struct {
	done chan struct{}
	url  string
	err  error
}

func open(ctx context.Context, o *launch.OnDemand) *opened {
	r := &opened{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.url, r.err = o.Browser(ctx)
	}()
	return r
}

// The user allows one connection, and several programs use it: no question comes for them.
func TestAskedOnce(t *testing.T) {
	profile := home(t)
	screen := desktoptest.Start(t)
	screen.Browser(profile, true)
	first, second := source(t, "chromium"), source(t, profile)
	a := open(t.Context(), first)
	screen.AwaitQuestion()
	b := open(t.Context(), second)
	screen.Press(desktoptest.Allow, a.done)
	<-b.done
	if a.err != nil || b.err != nil {
		t.Fatal(a.err, b.err)
	}
	if screen.HasQuestion() {
		t.Error("the browser asks again")
	}
	connections := Connections(t.Context())
	if len(connections) != 1 || connections[0].Profile != profile || connections[0].Asking {
		t.Fatalf("the connections: %+v", connections)
	}
	tabs := must.Get(connections[0].Tabs(t.Context()))(t)
	if len(tabs) != 1 {
		t.Fatalf("the user's tabs: %+v", tabs)
	}
	must.Do(t, connections[0].HandOver(t.Context(), tabs[0].ID))
	// Of all kinds of targets, also those of the browser itself, clients learn of that one.
	targets := string(cdptest.Dial(t, b.url).Try("", "Target.getTargets", `{"filter":[{}]}`).Result)
	if !strings.Contains(targets, tabs[0].ID) || strings.Count(targets, "targetId") != 1 {
		t.Errorf("clients see %s", targets)
	}
	for _, url := range []string{a.url, b.url, a.url} {
		cdptest.Dial(t, url).Call("", "Browser.getVersion", "", nil)
	}
	if screen.HasQuestion() {
		t.Error("the browser asks again")
	}
}

// The connection outlives whoever asked first, and the process that has it ends with the last program
// that uses it. If that process is killed, all learn it, and the user is asked again.
func TestOutlivesTheFirst(t *testing.T) {
	profile := home(t)
	screen := desktoptest.Start(t)
	screen.Browser(profile, true)
	first, second, third := source(t, "chromium"), source(t, "chromium"), source(t, profile)
	a := open(t.Context(), first)
	screen.AwaitQuestion()
	b := open(t.Context(), second)
	screen.Press(desktoptest.Allow, a.done)
	<-b.done
	must.Do(t, a.err, b.err)
	client, ended := cdptest.Dial(t, b.url), second.Done()
	must.Do(t, first.End())
	client.Call("", "Browser.getVersion", "", nil)
	c := open(t.Context(), third)
	<-c.done
	if c.err != nil || c.url != b.url || screen.HasQuestion() {
		t.Fatalf("a program that joins: %v, asked: %v", c.err, screen.HasQuestion())
	}
	must.Do(t, third.End())
	select {
	case <-ended:
		t.Fatalf("the connection of the second has ended: %v", second.Err())
	default:
		client.Call("", "Browser.getVersion", "", nil)
	}

	owner := must.Get(os.FindProcess(Connections(t.Context())[0].PID))(t)
	must.Do(t, owner.Kill())
	<-ended
	if err := second.Err(); err == nil || !strings.Contains(err.Error(), "asks you again") {
		t.Errorf("the owner was killed: %v", err)
	}
	b = open(t.Context(), second)
	screen.Press(desktoptest.Allow, b.done)
	must.Do(t, b.err)
	lock := must.Get(fileOf(profile, "lock"))(t)
	must.Do(t, second.End())
	must.Await(t, "the owner ends with its last user", func() bool {
		l := flock.New(lock)
		free, err := l.TryLock()
		return free && err == nil && l.Unlock() == nil
	})
}

// The owner ends also while the browser asks, if nobody waits any longer.
func TestNobodyWaits(t *testing.T) {
	profile := home(t)
	screen := desktoptest.Start(t)
	screen.Browser(profile, true)
	o := source(t, "chromium")
	ctx, giveUp := context.WithCancel(t.Context())
	r := open(ctx, o)
	screen.AwaitQuestion()
	giveUp()
	<-r.done
	if len(Connections(t.Context())) != 1 {
		t.Error("the question has gone with the call that gave up")
	}
	must.Do(t, o.End())
	must.Await(t, "the owner ends", func() bool { return len(Connections(t.Context())) == 0 })
}

// What can be wrong, with the user's next step.
func TestErrors(t *testing.T) {
	profile := home(t)
	file := filepath.Join(profile, "DevToolsActivePort")
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	host := must.Get(os.Hostname())(t)
	for _, test := range []struct {
		name  string
		setUp func()
		want  string
	}{
		{"never started", func() {}, "your own Chromium has no profile folder at "},
		{"not running", func() { must.Do(t, os.MkdirAll(profile, 0o700)) }, "does not run (profile folder " + profile},
		{"not switched on", func() {
			must.Do(t, os.Symlink(fmt.Sprintf("%s-%d", host, os.Getpid()), filepath.Join(profile, "SingletonLock")))
		}, "chrome://inspect/#remote-debugging in it and switch on"},
		{"stale port file", func() {
			must.Do(t, os.Remove(filepath.Join(profile, "SingletonLock")),
				os.WriteFile(file, []byte("1\n/devtools/browser/gone"), 0o600))
		}, "does not run"},
		{"closing", func() {
			must.Do(t, os.WriteFile(filepath.Join(profile, "Local State"),
				[]byte(`{"devtools":{"remote_debugging":{"user-enabled":true}}}`), 0o600),
				os.Symlink(fmt.Sprintf("%s-%d", host, os.Getpid()), filepath.Join(profile, "SingletonLock")),
				os.WriteFile(file, []byte("1\n/devtools/browser/now"), 0o600))
		}, "your own Chromium is closing, or you have switched"},
		{"not listening yet", func() {
			long := time.Now().Add(-time.Hour)
			must.Do(t, os.Chtimes(file, long, long))
		}, "runs and does not listen for programs yet"},
		{"no port", func() { must.Do(t, os.WriteFile(file, []byte("x"), 0o600)) }, "does not name a port"},
		{"another host", func() { must.Do(t, os.WriteFile(file, []byte("80\n/a@evil.test/"), 0o600)) }, "does not name"},
		{"others may write it", func() { must.Do(t, os.Chmod(file, 0o666)) }, "chmod go-w " + file},
		{"another program's port", func() {
			port := taken.Addr().(*net.TCPAddr).Port
			must.Do(t, os.Remove(file), os.Remove(filepath.Join(profile, "SingletonLock")),
				os.WriteFile(file, fmt.Appendf(nil, "%d\n/devtools/browser/gone", port), 0o600),
				os.Symlink(fmt.Sprintf("%s-%d", host, os.Getppid()), filepath.Join(profile, "SingletonLock")))
		}, "another program listens at port"},
	} {
		test.setUp()
		o := source(t, "chromium")
		if _, err := o.Browser(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// Where several browsers let programs connect, the user names one, and none is asked.
func TestSeveralRunning(t *testing.T) {
	profile := home(t)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	host := must.Get(os.Hostname())(t)
	run := func(folder string) {
		must.Do(t, os.MkdirAll(folder, 0o700),
			os.WriteFile(filepath.Join(folder, "DevToolsActivePort"),
				fmt.Appendf(nil, "%d\n/devtools/browser/x", listener.Addr().(*net.TCPAddr).Port), 0o600),
			os.Symlink(fmt.Sprintf("%s-%d", host, os.Getpid()), filepath.Join(folder, "SingletonLock")))
	}
	run(profile)
	if text := strings.Join(Describe(), "\n"); text != "Your own Chromium lets programs connect, with --attach chromium." {
		t.Errorf("one: %s", text)
	}
	run(filepath.Join(filepath.Dir(profile), "google-chrome"))
	if _, err := Find(); err == nil || !strings.Contains(err.Error(), "name one of chrome, chromium") {
		t.Errorf("without a name: %v", err)
	}
	snap := filepath.Join(os.Getenv("HOME"), "snap/chromium/common/chromium")
	run(snap)
	_, err := source(t, "chromium").Browser(t.Context())
	if err == nil || !strings.Contains(err.Error(), "name the profile folder of one with --attach DIR") ||
		!strings.Contains(err.Error(), snap) {
		t.Errorf("two of a name: %v", err)
	}
}

// Cancel is an answer: the user is not asked again. An unanswered question stays, and is the
// same one for the next call.
func TestNotAllowed(t *testing.T) {
	longtest.Require(t)
	profile := home(t)
	screen := desktoptest.Start(t)
	browser := screen.Browser(profile, true)
	o, other := source(t, "chromium"), source(t, "chromium")

	ctx, giveUp := context.WithCancel(t.Context())
	r := open(ctx, o)
	screen.Await("the browser asks, which is not reported", func() bool { return o.Waiting() != "" })
	giveUp()
	<-r.done
	if r.err == nil || !strings.Contains(r.err.Error(), "press Allow in its window") || o.Waiting() == "" {
		t.Errorf("unanswered: %v, waiting %q", r.err, o.Waiting())
	}
	r, joining := open(t.Context(), o), open(t.Context(), other)
	screen.Await("who joins does not learn that the browser asks", func() bool { return other.Waiting() != "" })
	screen.Press(desktoptest.Cancel, r.done)
	<-joining.done
	if !errors.Is(r.err, ErrRefused) || !errors.Is(joining.err, ErrRefused) {
		t.Errorf("refused: %v, %v", r.err, joining.err)
	}
	for _, refused := range []*launch.OnDemand{o, other} {
		if r := open(t.Context(), refused); func() bool { <-r.done; return !errors.Is(r.err, ErrRefused) }() ||
			screen.HasQuestion() {
			t.Errorf("after a refusal: %v", r.err)
		}
	}

	next := source(t, "chromium")
	r = open(t.Context(), next)
	screen.AwaitQuestion()
	browser.End()
	<-r.done
	if r.err == nil || !strings.Contains(r.err.Error(), "was closed before you allowed") {
		t.Errorf("closed while it asks: %v", r.err)
	}
	screen.Browser(profile, true)
	r = open(t.Context(), next)
	screen.Press(desktoptest.Allow, r.done)
	if r.err != nil {
		t.Errorf("restarted: %v", r.err)
	}
}

// When the browser ends, all who use it learn that, and nobody connects to the next one before
// somebody needs it.
func TestRestart(t *testing.T) {
	longtest.Require(t)
	profile := home(t)
	screen := desktoptest.Start(t)
	browser := screen.Browser(profile, true)
	first, second := source(t, "chromium"), source(t, "chromium")
	a, b := open(t.Context(), first), open(t.Context(), second)
	screen.Press(desktoptest.Allow, a.done)
	<-b.done
	must.Do(t, a.err, b.err)
	ends := []<-chan struct{}{first.Done(), second.Done()}
	browser.End()
	for i, o := range []*launch.OnDemand{first, second} {
		<-ends[i]
		if err := o.Err(); err == nil || !strings.Contains(err.Error(), "it was closed or restarted") {
			t.Errorf("%v", err)
		}
	}
	screen.Browser(profile, true)
	if screen.HasQuestion() {
		t.Error("the browser asks, and nobody needs it")
	}
	b = open(t.Context(), second)
	screen.Press(desktoptest.Allow, b.done)
	must.Do(t, b.err)
	a = open(t.Context(), first)
	<-a.done
	must.Do(t, a.err)
}

// A tab that has closed, and a program that has ended, are different errors.
func TestHandOverErrors(t *testing.T) {
	closed := httptest.NewRecorder()
	(&owner{}).change((*partial.Browser).HandOver)(closed, httptest.NewRequest(http.MethodPost, handOverPath, nil))
	if text := closed.Body.String(); closed.Code != http.StatusOK ||
		!strings.Contains(text, "the tab has closed meanwhile") {
		t.Errorf("a tab that has closed: %d %s", closed.Code, text)
	}
	gone := Shared{Browser: "your own Chrome", socket: filepath.Join(t.TempDir(), "no.sock")}
	for _, change := range []func(context.Context, string) error{gone.HandOver, gone.TakeBack} {
		err := change(t.Context(), "T")
		if err == nil || !strings.Contains(err.Error(), "cannot reach the program that is connected to your own Chrome") {
			t.Errorf("a program that has ended: %v", err)
		}
	}
}
