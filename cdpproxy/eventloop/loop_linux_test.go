//go:build !noeventloop

package eventloop

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stale makes the loop's epoll return events for every descriptor up to n again and
// again, like late events of earlier connections.
func stale(t *testing.T, l *Loop, n int) {
	t.Helper()
	l.set(n, nil) // as if connections had used them all
	for fd := range n {
		if fd == l.poller.wake {
			continue // no connection ever uses it
		}
		always, err := unix.Eventfd(1, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(always) })
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT, Fd: int32(fd)}
		if err := unix.EpollCtl(l.poller.set, unix.EPOLL_CTL_ADD, always, &event); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStaleEvents: the loop gets events for all descriptors, while connections come
// and go and their numbers belong to others in turn. It never reads from another
// connection's descriptor, nor from one that is not its own.
func TestStaleEvents(t *testing.T) {
	const clients, visits, messages, others = 6, 10, 40, 40
	l := startLoop(t)
	stale(t, l, 250)
	var left sync.WaitGroup
	for client := range clients {
		left.Go(func() {
			for visit := range visits {
				conn := join(t, l, nil)
				for i := range messages {
					if err := exchange(conn, fmt.Appendf(nil, "client %d, visit %d, message %d", client, visit, i)); err != nil {
						t.Error(err)
					}
				}
				conn.Close()
			}
		})
	}
	left.Wait()
	const text = "not for the loop"
	var ours [][2]int
	for range others {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(pair[0])
		defer unix.Close(pair[1])
		for _, fd := range pair {
			if _, err := unix.Write(fd, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		ours = append(ours, pair)
	}
	conn := join(t, l, nil)
	for range 20 { // the loop handles each descriptor with events, in turn
		talk(t, conn, "message")
	}
	b := make([]byte, 100)
	for _, pair := range ours {
		for _, fd := range pair {
			if n, err := unix.Read(fd, b); err != nil || string(b[:n]) != text {
				t.Errorf("descriptor %d holds %q, %v", fd, b[:max(n, 0)], err)
			}
		}
	}
}

// TestWatched: the loop watches the descriptors of its connections, and only those.
func TestWatched(t *testing.T) {
	l := startLoop(t)
	watched := func(want int) {
		t.Helper()
		until(t, func() bool {
			info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", l.poller.set))
			return err == nil && strings.Count(string(info), "tfd:") == want+1 // and the one that wakes it
		})
	}
	var conns []net.Conn
	for range 3 {
		conns = append(conns, join(t, l, nil))
	}
	watched(3)
	for _, conn := range conns {
		talk(t, conn, strings.Repeat("x", 1000))
	}
	watched(3)
	conns[0].Close()
	watched(2)
}

// until polls until fits is true: a loop sends no notification.
func until(t *testing.T, fits func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !fits(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in 20 s")
		}
	}
}

// converse exchanges messages without a pause, until stop is called.
func converse(t *testing.T, conn net.Conn) (stop func()) {
	over, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			select {
			case <-over:
				ended <- nil
				return
			default:
				err = exchange(conn, []byte("message"))
			}
		}
		ended <- err
	}()
	return func() {
		close(over)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestBeside: with one processor, and always something to read, other connections get
// their turn.
func TestBeside(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l := startLoop(t)
	for range 4 {
		defer converse(t, join(t, l, nil))()
	}
	other := join(t, startLoop(t), nil)
	for range 20 {
		talk(t, other, "beside")
	}
}
