package endpoint_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/endpoint"
)

const hash = "0123456789abcdef"

// none is a window without a browser; its endpoint answers with a help text,
// by which a test knows who answers.
type none struct{}

func (none) Browser() (*cdpproxy.Browser, <-chan struct{}) { return nil, nil }

func options(name string) *endpoint.Options {
	return &endpoint.Options{Proxy: cdpproxy.Options{HoldTimeout: cdpproxy.NoHold, NoBrowserHelp: "this is " + name}}
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
	e, err := endpoint.Serve(context.Background(), hash, none{}, options(name))
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(e.URL(), e.Owner())
	io.Copy(io.Discard, os.Stdin)
	e.Close(context.Background())
}

type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	says  string
}

func start(t *testing.T, name string) *process {
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
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%s said nothing: %v", name, err)
	}
	p.says = strings.TrimSpace(line)
	return p
}

func state(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	return filepath.Join(dir, "browser-coordinator-mcp")
}

func serve(t *testing.T, hash, name string) *endpoint.Endpoint {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e, err := endpoint.Serve(ctx, hash, none{}, options(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeEndpoint(t, e) })
	return e
}

func closeEndpoint(t *testing.T, e *endpoint.Endpoint) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Error(err)
	}
}

// who asks the endpoint until someone answers, and returns the answer.
func who(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(5 * time.Second); ; {
		res, err := client.Get(url + "/json/version")
		if err == nil {
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(body)
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody serves %s: %v", url, err)
		}
	}
}

func TestAddress(t *testing.T) {
	dir := state(t)
	addr, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	if addr.Served {
		t.Error("served, says Address, but nobody does")
	}
	if addr.Port < endpoint.FirstPort || addr.Port >= endpoint.FirstPort+endpoint.Ports || addr.URL != "http://127.0.0.1:"+strconv.Itoa(addr.Port) {
		t.Errorf("address %+v", addr)
	}
	e := serve(t, hash, "A")
	if !e.Owner() || e.URL() != addr.URL {
		t.Errorf("served at %s (owner %v), want %s", e.URL(), e.Owner(), addr.URL)
	}
	again, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Served || again.TokenURL != addr.TokenURL || again.Port != addr.Port {
		t.Errorf("while served: %+v, want as before: %+v", again, addr)
	}
	if got := who(t, addr.TokenURL); !strings.Contains(got, "this is A") {
		t.Errorf("with token: %s", got)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, "endpoint-" + hash + ".json": 0o600, "endpoint-" + hash + ".token": 0o600, "endpoint-" + hash + ".lock": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if got := info.Mode().Perm(); got != want && os.PathSeparator == '/' {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
	for _, bad := range []string{"", "123", "0123456789ABCDEF", "../../../../x", "0123456789abcdeg"} {
		if _, err := endpoint.Address(bad); err == nil {
			t.Errorf("hash %q accepted", bad)
		}
	}
}

// TestOwnerKilled: three coordinators; the owner dies without a word.
func TestOwnerKilled(t *testing.T) {
	state(t)
	owner := start(t, "owner")
	url, isOwner, _ := strings.Cut(owner.says, " ")
	if isOwner != "true" {
		t.Fatalf("the first coordinator is not the owner: %s", owner.says)
	}
	a, b := start(t, "other"), start(t, "other")
	for _, p := range []*process{a, b} {
		if p.says != url+" false" {
			t.Errorf("standing by, a coordinator says %q, want %q", p.says, url+" false")
		}
	}
	if got := who(t, url); !strings.Contains(got, "this is owner") {
		t.Fatalf("before: %s", got)
	}
	killed := time.Now()
	if err := owner.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	owner.cmd.Wait()
	if got := who(t, url); !strings.Contains(got, "this is other") {
		t.Errorf("after: %s", got)
	}
	took := time.Since(killed)
	t.Logf("served by another %v after SIGKILL", took)
	if took > time.Second {
		t.Errorf("taken over after %v, want at most 1 s", took)
	}
}

// TestHandOver: the owner leaves in good order.
func TestHandOver(t *testing.T) {
	state(t)
	a := serve(t, hash, "A")
	b := serve(t, hash, "B")
	if !a.Owner() || b.Owner() || a.URL() != b.URL() {
		t.Fatalf("A: %v %s, B: %v %s", a.Owner(), a.URL(), b.Owner(), b.URL())
	}
	closeEndpoint(t, a)
	if got := who(t, b.URL()); !strings.Contains(got, "this is B") {
		t.Errorf("after A left: %s", got)
	}
	if !b.Owner() {
		t.Error("B answers, but does not say that it is the owner")
	}
}

// TestTakenPort: a stranger listens on the window's port.
func TestTakenPort(t *testing.T) {
	state(t)
	before, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(before.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	e := serve(t, hash, "A")
	if e.URL() == before.URL || !e.Owner() {
		t.Fatalf("serves %s, owner %v", e.URL(), e.Owner())
	}
	if got := who(t, e.URL()); !strings.Contains(got, "this is A") {
		t.Errorf("on the new port: %s", got)
	}
	stranger.Close()
	after, err := endpoint.Address(hash)
	if err != nil {
		t.Fatal(err)
	}
	if after.URL != e.URL() {
		t.Errorf("remembered %s, want %s", after.URL, e.URL())
	}
}

// TestCollision: two windows whose hashes give the same port.
func TestCollision(t *testing.T) {
	state(t)
	// The same remainder by Ports, the same step.
	one, two := "0000000000000007", fmt.Sprintf("%016x", 7+endpoint.Ports)
	a, err := endpoint.Address(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := endpoint.Address(two)
	if err != nil {
		t.Fatal(err)
	}
	if a.Port == b.Port {
		t.Fatalf("both windows have port %d", a.Port)
	}
	if a.TokenURL[strings.LastIndexByte(a.TokenURL, '/'):] == b.TokenURL[strings.LastIndexByte(b.TokenURL, '/'):] {
		t.Error("both windows have the same token")
	}
	serve(t, one, "one")
	serve(t, two, "two")
	if got := who(t, a.URL); !strings.Contains(got, "this is one") {
		t.Errorf("one: %s", got)
	}
	if got := who(t, b.URL); !strings.Contains(got, "this is two") {
		t.Errorf("two: %s", got)
	}
}

// TestManyAtOnce: coordinators start together and leave one by one. At any time
// one of them serves, at the same address.
func TestManyAtOnce(t *testing.T) {
	state(t)
	const count = 6
	type result struct {
		e   *endpoint.Endpoint
		err error
	}
	results := make(chan result, count)
	for i := range count {
		go func() {
			e, err := endpoint.Serve(context.Background(), hash, none{}, options(fmt.Sprint("number ", i)))
			results <- result{e, err}
		}()
	}
	var all []*endpoint.Endpoint
	for range count {
		r := <-results
		if r.err != nil {
			t.Fatal(r.err)
		}
		defer closeEndpoint(t, r.e)
		all = append(all, r.e)
	}
	url := all[0].URL()
	seen := make(map[string]bool)
	for len(all) > 0 {
		answer := who(t, url)
		if seen[answer] {
			t.Errorf("%q answers again after it has left", answer)
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
			t.Fatal("somebody answers, but nobody says that it is the owner")
		}
		closeEndpoint(t, owner)
		all = rest
	}
	if addr, err := endpoint.Address(hash); err != nil || addr.Served {
		t.Errorf("after all have left: %+v, %v", addr, err)
	}
}

// TestBothAddresses: the endpoint answers on 127.0.0.1 and on ::1.
func TestBothAddresses(t *testing.T) {
	state(t)
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no ::1: ", err)
	}
	ln.Close()
	e := serve(t, hash, "both")
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(e.URL(), "http://"))
	for _, host := range []string{"127.0.0.1", "::1"} {
		if says := who(t, "http://"+net.JoinHostPort(host, port)); !strings.Contains(says, "this is both") {
			t.Errorf("%s: %s", host, says)
		}
	}
}
