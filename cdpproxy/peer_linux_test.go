package cdpproxy_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/virtual"
	"browser-coordinator/internal/cdptest"
)

// asUser returns a function that starts this test binary as another user. The child
// runs connectAsChild with target.
func asUser(t *testing.T) func(uid uint32, target string) *exec.Cmd {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root to run a process as another user")
	}
	// The test binary is in a directory of root's alone.
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "client")
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	return func(uid uint32, target string) *exec.Cmd {
		cmd := exec.Command(exe)
		cmd.Dir = "/"
		cmd.Env = []string{"CDPPROXY_TEST_CHILD=" + target}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		return cmd
	}
}

// TestSecondUser connects as another user of the machine.
func TestSecondUser(t *testing.T) {
	start := asUser(t)
	browser, connections := counted(t, cdptest.BrowserURL(t))
	src := newSource(browser)
	p, addr := serve(t, src, &cdpproxy.Options{Token: token})
	addrs := []string{addr}
	if ln, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Logf("no IPv6 here: %v", err)
	} else {
		addrs = append(addrs, ln.Addr().String())
		served := make(chan error, 1)
		go func() { served <- p.Serve(ln) }()
		defer func() {
			ln.Close()
			if err := <-served; err != nil {
				t.Error(err)
			}
		}()
	}
	// In strict mode no client is admitted without the token, not even the same user.
	_, strict := serve(t, src, &cdpproxy.Options{Token: token, RequireToken: true})
	var targets, withToken []string
	for _, addr := range addrs {
		withToken = append(withToken, addr+"/"+token)
	}
	targets = append(append(targets, addrs...), strict)
	before := connections.count()
	out, err := start(12345, strings.Join(targets, " ")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := connections.count(); got != before {
		t.Errorf("of another user the browser got %d connections", got-before)
	}
	answers := strings.Split(string(out), "\n\n")
	for i, addr := range targets {
		wants := []string{"comes from user 12345", "`coordinator endpoint --token`", "WebSocket: 403"}
		if addr == strict {
			wants = []string{"token missing or wrong", "WebSocket: 403"}
		}
		for _, want := range wants {
			if !strings.Contains(answers[i], want) || strings.Contains(answers[i], "webSocketDebuggerUrl") {
				t.Errorf("%s: another user got %s, want %s", addr, answers[i], want)
			}
		}
		if status, body := get(t, addr, "/json/version", nil); (status == 200) == (addr == strict) {
			t.Errorf("%s: the same user got HTTP %d %s", addr, status, body)
		}
	}
	// With the token any user is admitted.
	if out, err = start(12345, strings.Join(withToken, " ")).Output(); err != nil {
		t.Fatal(err)
	}
	if got := string(out); strings.Count(got, "webSocketDebuggerUrl") != len(addrs) ||
		strings.Count(got, "WebSocket: 101") != len(addrs) {
		t.Errorf("another user with the token got %s", got)
	}
}

// TestOtherUser: the private server of a virtual browser or a pipe closes the connections of
// another user, even with the secret.
func TestOtherUser(t *testing.T) {
	start := asUser(t)
	b, err := virtual.New(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	base, _, _ := strings.Cut(strings.TrimPrefix(b.URL(), "ws://"), "/devtools/")
	out, err := start(12345, base).Output()
	if got := string(out); err != nil || got != "" {
		t.Errorf("another user gets %s, %v", got, err)
	}
	if status, body := get(t, base, "/json/nothing", nil); status != http.StatusNotFound {
		t.Errorf("the same user gets HTTP %d %s", status, body)
	}
}

// talk starts a child, and returns the two ends of its standard streams.
func talk(t *testing.T, cmd *exec.Cmd) (leave io.Closer, printed *bufio.Reader) {
	t.Helper()
	leave, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return leave, bufio.NewReader(out)
}

// TestManyUnauthenticated: another user cannot take all connections. Its
// unauthenticated connections are bounded, and a refused one is closed. The
// endpoint's own user is always admitted.
func TestManyUnauthenticated(t *testing.T) {
	start := asUser(t)
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), nil)
	cmd := start(12345, manyOf+addr)
	leave, printed := talk(t, cmd)
	if line, err := printed.ReadString('\n'); line != "the last 20 of 276 are closed\n" {
		t.Errorf("another user says %q, %v", line, err)
	}
	if got := call(t, dial(t, addr, "/devtools/browser/x"), getVersion); !strings.Contains(got, "Chrome/") {
		t.Errorf("the browser says %s", got)
	}
	leave.Close()
	if line, err := printed.ReadString('\n'); line != "refused, and closed\n" {
		t.Errorf("another user says %q, %v", line, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if status, body := get(t, addr, "/json/version", nil); status != 200 {
		t.Errorf("HTTP %d %s", status, body)
	}
}

// TestPeerAddressFamilies: the same user is recognised on ::1, and by an IPv6
// socket with an IPv4 peer, as in Java and some Node versions.
func TestPeerAddressFamilies(t *testing.T) {
	src := newSource(cdptest.BrowserURL(t))
	p, addr := serve(t, src, nil)

	dialMapped := func(context.Context, string, string) (net.Conn, error) {
		fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		file := os.NewFile(uintptr(fd), "mapped")
		defer file.Close()
		to, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			return nil, err
		}
		sa := &unix.SockaddrInet6{Port: to.Port}
		copy(sa.Addr[:], to.IP.To16())
		if err := unix.Connect(fd, sa); err != nil {
			return nil, err
		}
		return net.FileConn(file)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dialMapped, DisableKeepAlives: true}}
	res, err := client.Get("http://" + addr + "/json/version")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != 200 {
		t.Errorf("IPv4 over an IPv6 socket: HTTP %d %s", res.StatusCode, body)
	}

	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(ln) }()
	status, text := get(t, ln.Addr().String(), "/json/version", nil)
	if status != 200 || !strings.Contains(text, `"ws://`+ln.Addr().String()+`/devtools`) {
		t.Errorf("::1: HTTP %d %s", status, text)
	}
	ln.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
