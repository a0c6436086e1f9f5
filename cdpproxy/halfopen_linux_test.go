package cdpproxy_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/must"
)

// vanish ends a connection like a power cut: the peer gets no notification. The
// kernel responds to later packets with a reset, like a machine that was restarted.
// It does not simulate a peer without any response. The test is skipped where the
// system does not permit this.
func vanish(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_REPAIR, 1)
	})
	if errors.Is(refused, unix.EPERM) {
		must.Skip(t, "to vanish without a word takes CAP_NET_ADMIN")
	}
	if err := errors.Join(err, refused); err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// soonAlive sets a TCP keep-alive of one second until the test ends.
func soonAlive(t *testing.T) {
	before := cdpproxy.KeepAlive(net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 3})
	t.Cleanup(func() { cdpproxy.KeepAlive(before) })
}

// TestClientVanishes: the browser's connection is closed when its client has
// vanished.
func TestClientVanishes(t *testing.T) {
	soonAlive(t)
	ended := make(chan error, 1)
	fake := startFake(t, "127.0.0.1:0", "patient", func(conn net.Conn) {
		_, err := io.Copy(io.Discard, conn)
		ended <- err
	})
	_, addr := serve(t, newSource(fake.url()), nil)
	conn, _ := rawUpgrade(t, addr)
	vanish(t, conn)
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the browser still has its connection")
	}
}

// TestBrowserVanishes: a client is notified when its browser has vanished.
func TestBrowserVanishes(t *testing.T) {
	soonAlive(t)
	upgraded := make(chan net.Conn, 1)
	closing := make(chan struct{})
	fake := startFake(t, "127.0.0.1:0", "patient", func(conn net.Conn) {
		upgraded <- conn
		<-closing
	})
	defer close(closing)
	_, addr := serve(t, newSource(fake.url()), nil)
	c := dial(t, addr, "/devtools/browser/x")
	vanish(t, <-upgraded)
	_, _, err := c.Read(testContext(t))
	if !closes(err, websocket.StatusGoingAway, "closed this connection") {
		t.Errorf("the client gets %v", err)
	}
}
