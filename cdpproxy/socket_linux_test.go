//go:build !noeventloop

package cdpproxy_test

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"

	"browser-coordinator/cdpproxy"
)

// legs returns the descriptors of the proxy in this process: those to its clients,
// and those to its browser.
func legs(t *testing.T, proxy, browser string) (clients, upstreams []int) {
	t.Helper()
	port := func(addr string) int {
		_, text, _ := net.SplitHostPort(addr)
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	of := func(a unix.Sockaddr, err error) int {
		switch a := a.(type) {
		case *unix.SockaddrInet4:
			return a.Port
		case *unix.SockaddrInet6:
			return a.Port
		}
		return 0
	}
	for _, fd := range openFiles(t) {
		peer := of(unix.Getpeername(fd))
		switch {
		case peer == 0: // no connection
		case of(unix.Getsockname(fd)) == port(proxy):
			clients = append(clients, fd)
		case peer == port(browser):
			upstreams = append(upstreams, fd)
		}
	}
	return clients, upstreams
}

func openFiles(t *testing.T) (fds []int) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if fd, err := strconv.Atoi(f.Name()); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds
}

func pipes(t *testing.T) (n int) {
	t.Helper()
	for _, fd := range openFiles(t) {
		if link, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); strings.HasPrefix(link, "pipe:") {
			n++
		}
	}
	return n
}

// TestDescriptors: connections that have carried data, little and much, have two
// descriptors each and no pipe. TCP keep-alive is on for both, and pacing is off.
func TestDescriptors(t *testing.T) { eachWay(t, descriptors) }

func descriptors(t *testing.T, rule cdpproxy.Rule) {
	const connections = 2
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	_, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Rule: rule})
	before := pipes(t)
	var conns []*websocket.Conn
	for range connections {
		c := dialBy(t, addr, "/devtools/browser/x", dialSmall)
		conns = append(conns, c)
		call(t, c, getVersion) // the loop has it
	}
	keptAlive(t, addr, fake.addr, connections)
	large := `{"id":1,"method":"A.b","x":"` + strings.Repeat("x", 1_000_000) + `"}`
	for _, c := range conns {
		if got := call(t, c, large); got != large {
			t.Fatalf("%d bytes came back", len(got))
		}
	}
	keptAlive(t, addr, fake.addr, connections)
	if now := pipes(t); now > before {
		t.Errorf("%d pipes more than before", now-before)
	}
}

// keptAlive requires n connections with one descriptor on each side, with TCP
// keep-alive and without pacing. When the loop takes it over, a descriptor exists
// twice for a moment. Nothing reports the end of that.
func keptAlive(t *testing.T, proxy, browser string, n int) {
	t.Helper()
	clients, upstreams := legs(t, proxy, browser)
	for deadline := time.Now().Add(10 * time.Second); (len(clients) != n || len(upstreams) != n) && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
		clients, upstreams = legs(t, proxy, browser)
	}
	if len(clients) != n || len(upstreams) != n {
		t.Fatalf("%d clients have %d descriptors, and %d to the browser", n, len(clients), len(upstreams))
	}
	for _, fd := range append(clients, upstreams...) {
		for name, o := range map[string]struct{ level, option, want int }{
			"SO_KEEPALIVE":  {unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
			"TCP_KEEPIDLE":  {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 30},
			"TCP_KEEPINTVL": {unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 10},
			"TCP_KEEPCNT":   {unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
		} {
			if got, err := unix.GetsockoptInt(fd, o.level, o.option); err != nil || got != o.want {
				t.Errorf("%s is %d, %v; want %d", name, got, err, o.want)
			}
		}
		if got, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || got != "reno" {
			t.Errorf("congestion control is %q, %v", got, err)
		}
	}
}
