package endpoint_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/internal/usersocket"
)

const hash = "0123456789abcdef"

// none is a window without a browser. Its endpoint responds with a help text, which
// identifies the owner in a test.
type none struct{}

func (none) Browser() (*cdpproxy.Browser, <-chan struct{}) { return nil, nil }

// options call serving whenever the endpoint is served with them.
func options(name string, serving func()) cdpproxy.Options {
	return cdpproxy.Options{Rule: struct{ cdpproxy.Rule }{}, HoldTimeout: cdpproxy.NoHold,
		NoBrowserHelp: func() string { return "this is " + name }, Logger: slog.New(&listener{serving: serving})}
}

// listener detects it in the log.
type listener struct {
	slog.Handler
	serving func()
}

// turns receives a value from each new owner.
type turns chan struct{}

func newTurns() turns { return make(turns, 100) }

func (c turns) begin() { c <- struct{}{} }

func (c turns) await(t *testing.T) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatal("no coordinator serves the endpoint")
	}
}

func (*listener) Enabled(context.Context, slog.Level) bool { return true }

func (l *listener) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "serving the endpoint" {
		l.serving()
	}
	return nil
}

func TestMain(m *testing.M) {
	if name := os.Getenv("ENDPOINT_TEST_CHILD"); name != "" {
		child(name)
		return
	}
	os.Exit(m.Run())
}

// child serves the endpoint in a process of its own until stdin ends.
func child(name string) {
	e, err := endpoint.Serve(context.Background(), hash, none{}, options(name, func() { fmt.Println("serving") }))
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(e.URL(), e.Owner())
	io.Copy(io.Discard, os.Stdin)
	e.Close()
}

type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	first string // its first line of output
}

func listen(lines *bufio.Scanner, serving turns, others chan<- string) {
	defer close(others)
	for lines.Scan() {
		if lines.Text() == "serving" {
			serving.begin()
		} else {
			others <- lines.Text()
		}
	}
}

func start(t *testing.T, name string, serving turns) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(exe)}
	p.cmd.Env = append(os.Environ(), "ENDPOINT_TEST_CHILD="+name)
	p.cmd.Stderr = os.Stderr
	p.stdin, _ = p.cmd.StdinPipe()
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	})
	others := make(chan string, 1)
	go listen(bufio.NewScanner(stdout), serving, others)
	if p.first = <-others; p.first == "" {
		t.Fatalf("%s printed nothing", name)
	}
	return p
}

func state(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	return filepath.Join(dir, "browser-coordinator-mcp")
}

func serve(t *testing.T, hash, name string, serving turns) *endpoint.Endpoint {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := endpoint.Serve(ctx, hash, none{}, options(name, serving.begin))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// TestOwnerThatDrops: an owner that ends each request of those that stand by, but lives, is
// asked again only after pauses.
func TestOwnerThatDrops(t *testing.T) {
	dir := state(t)
	serve(t, hash, "one", newTurns()).Close() // its folder and files are there now
	lock := flock.New(filepath.Join(dir, "endpoint-"+hash+".lock"))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer lock.Close()
	socket, err := usersocket.Listen(filepath.Join(dir, "endpoint-"+hash+".sock"))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan time.Time, 10_000)
	owner := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- time.Now():
		default:
		}
		io.WriteString(w, `{"port":1}`)
	})}
	go owner.Serve(socket)
	defer owner.Close()
	serve(t, hash, "two", newTurns())
	first := <-asked
	for range 11 {
		if last := <-asked; last.IsZero() {
			t.Fatal("not asked")
		}
	}
	if took := time.Since(first); took < 500*time.Millisecond {
		t.Errorf("12 requests in %v", took)
	}
}

// who requests the endpoint's help text, and returns it.
func who(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url + "/json/version")
	if err != nil {
		t.Fatalf("no coordinator serves %s: %v", url, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestOwnerKilled: three coordinators; the owner is killed.
func TestOwnerKilled(t *testing.T) {
	state(t)
	serving := newTurns()
	owner := start(t, "owner", serving)
	serving.await(t)
	url, isOwner, _ := strings.Cut(owner.first, " ")
	if isOwner != "true" {
		t.Fatalf("the first coordinator is not the owner: %s", owner.first)
	}
	a, b := start(t, "other", serving), start(t, "other", serving)
	for _, p := range []*process{a, b} {
		if p.first != url+" false" {
			t.Errorf("standing by, a coordinator prints %q, want %q", p.first, url+" false")
		}
	}
	if got := who(t, url); !strings.Contains(got, "this is owner") {
		t.Fatalf("before: %s", got)
	}
	if err := owner.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	owner.cmd.Wait()
	serving.await(t)
	if got := who(t, url); !strings.Contains(got, "this is other") {
		t.Errorf("after: %s", got)
	}
}

// failures receives what is logged while an endpoint cannot be served.
type failures struct {
	listener
	records chan slog.Record
}

func (f *failures) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "cannot serve the endpoint") {
		f.records <- r
	}
	return f.listener.Handle(ctx, r)
}

func (f *failures) next(t *testing.T) (level slog.Level, moment time.Time, reason string) {
	t.Helper()
	select {
	case r := <-f.records:
		r.Attrs(func(a slog.Attr) bool {
			reason += a.String()
			return true
		})
		return r.Level, r.Time, reason
	case <-time.After(time.Minute):
		t.Fatal("it does not try again")
		return 0, time.Time{}, ""
	}
}

// TestCannotServe: a coordinator that cannot take over logs each reason once, tries less
// and less often, and serves when it can.
func TestCannotServe(t *testing.T) {
	dir := state(t)
	owner := start(t, "A", newTurns())
	serving := newTurns()
	log := &failures{listener{serving: serving.begin}, make(chan slog.Record, 1000)}
	opts := options("B", nil)
	opts.Logger = slog.New(log)
	e, err := endpoint.Serve(context.Background(), hash, none{}, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := e.Address()

	// Others may enter the folder.
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	owner.cmd.Process.Kill()
	if level, _, reason := log.next(t); level != slog.LevelError {
		t.Errorf("the first failure is logged as %v: %s", level, reason)
	}
	var last time.Time
	for range 2 {
		level, moment, reason := log.next(t)
		if level > slog.LevelDebug {
			t.Errorf("the same reason is logged again, as %v: %s", level, reason)
		}
		if pause := moment.Sub(last); pause < 500*time.Millisecond {
			t.Errorf("it tried again after %v, want longer and longer pauses", pause)
		}
		last = moment
	}

	// Another program has the port, and no other one can be chosen.
	another, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(before.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close()
	lock := filepath.Join(dir, "endpoint-ports.lock")
	if err := errors.Join(os.Remove(lock), os.Mkdir(lock, 0o700), os.Chmod(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	level, _, reason := log.next(t)
	for level < slog.LevelError { // a try before the change
		level, _, reason = log.next(t)
	}
	if !strings.Contains(reason, "change what is kept for the endpoint") {
		t.Errorf("the next reason is %s", reason)
	}

	another.Close()
	serving.await(t)
	if got := who(t, e.URL()); e.URL() != before.URL || !strings.Contains(got, "this is B") {
		t.Errorf("%s serves %s", e.URL(), got)
	}
}

// TestManyAtOnce: coordinators start together and end one by one. At any time one of them
// serves, at the same address.
func TestManyAtOnce(t *testing.T) {
	state(t)
	const count = 6
	type result struct {
		e   *endpoint.Endpoint
		err error
	}
	results := make(chan result, count)
	serving := newTurns()
	for i := range count {
		go func() {
			e, err := endpoint.Serve(context.Background(), hash, none{}, options(fmt.Sprint("number ", i),
				serving.begin))
			results <- result{e, err}
		}()
	}
	var all []*endpoint.Endpoint
	for range count {
		r := <-results
		if r.err != nil {
			t.Fatal(r.err)
		}
		defer r.e.Close()
		all = append(all, r.e)
	}
	url := all[0].URL()
	seen := make(map[string]bool)
	for len(all) > 0 {
		serving.await(t)
		answer := who(t, url)
		if seen[answer] {
			t.Errorf("%q responds again after its end", answer)
		}
		seen[answer] = true
		var owner *endpoint.Endpoint
		var rest []*endpoint.Endpoint
		for _, e := range all {
			if e.URL() != url {
				t.Errorf("an address changed: %s, was %s", e.URL(), url)
			}
			if !e.Owner() {
				rest = append(rest, e)
			} else if owner != nil {
				t.Error("two owners")
			} else {
				owner = e
			}
		}
		if owner == nil {
			t.Fatal("there is a response, but no owner")
		}
		owner.Close()
		all = rest
	}
	if addr, err := endpoint.Address(hash); err != nil || addr.Served {
		t.Errorf("after the end of all: %+v, %v", addr, err)
	}
}

// TestBothAddresses: the endpoint responds on 127.0.0.1 and on ::1.
func TestBothAddresses(t *testing.T) {
	state(t)
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no ::1: ", err)
	}
	ln.Close()
	e := serve(t, hash, "both", newTurns())
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(e.URL(), "http://"))
	for _, host := range []string{"127.0.0.1", "::1"} {
		if got := who(t, "http://"+net.JoinHostPort(host, port)); !strings.Contains(got, "this is both") {
			t.Errorf("%s: %s", host, got)
		}
	}
}
