//go:build !noeventloop

package eventloop

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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

// TestLeavesRoom: the loop waits for more in a system call that Go does not see,
// here for a minute. Meanwhile everything else proceeds at once: other connections,
// timers, goroutines, the collector, another loop, and the end.
func TestLeavesRoom(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer func(before int) { lingering = before }(lingering)
	lingering = 60_000
	l, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	first := join(t, l, nil)
	until(t, func() bool { // a signal may end it
		talk(t, first, "one")
		return holders.Load() == 1
	})
	talk(t, join(t, l, nil), "another client")
	other := join(t, startLoop(t), nil)
	for range 10 {
		talk(t, other, "another loop")
		talk(t, first, "two")
		if n := holders.Load(); n > 1 {
			t.Fatalf("%d loops linger, which leaves none of two processors", n)
		}
	}
	for range 3 {
		runtime.GC()
	}
	select {
	case <-time.After(time.Millisecond):
	case <-time.After(time.Minute):
		t.Error("a timer of a millisecond never fired")
	}
	talk(t, first, "three")
}

// TestParks: when no data comes, the loop releases its processor.
func TestParks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	conn := join(t, startLoop(t), nil)
	for range 3 {
		talk(t, conn, "message")
	}
	until(t, func() bool { return holders.Load() == 0 })
}

// alone is set in a process that only serves.
const alone = "EVENTLOOP_TEST_ALONE"

func TestMain(m *testing.M) {
	if os.Getenv(alone) == "" {
		os.Exit(m.Run())
	}
	if err := serveAlone(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveAlone echoes until its input ends: at one address in a loop, at the other in
// goroutines. A message "work" begins, and "rest" ends, that a goroutine keeps a
// processor busy without a system call. The loop starts a goroutine for "start",
// which prints a line.
func serveAlone() error {
	lingering = 500
	l, err := Start()
	if err != nil {
		return err
	}
	looped, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(looped.Addr(), plain.Addr())
	var works atomic.Bool
	work := func(data []byte) {
		switch string(data) {
		case "work":
			works.Store(true)
			go func() {
				for works.Load() {
				}
			}()
		case "rest":
			works.Store(false)
		case "start":
			go fmt.Println("started")
		}
	}
	go func() {
		for {
			conn, err := looped.Accept()
			if err != nil {
				return
			}
			e := &echo{work: work}
			e.mu.Lock()
			if e.conn, err = l.Add(conn.(*net.TCPConn), e); err == nil {
				e.conn.Read(true)
			}
			e.mu.Unlock()
		}
	}()
	go func() {
		for {
			conn, err := plain.Accept()
			if err != nil {
				return
			}
			go io.Copy(conn, conn)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// startAlone starts a process that does nothing but serve, with so many processors.
func startAlone(t *testing.T, processors int) (looped, plain string, printed *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), alone+"=1", fmt.Sprint("GOMAXPROCS=", processors))
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if inErr != nil || outErr != nil {
		t.Fatal(inErr, outErr)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	printed = bufio.NewReader(out)
	line, err := printed.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fmt.Sscan(line, &looped, &plain)
	return looped, plain, printed
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
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

// asleep is how long such a process is left idle, until Go's scheduler sleeps in
// it. If it does not sleep yet, the test is only easier to pass.
const asleep = 700 * time.Millisecond

// TestAlone: conversations without a pause do not block other connections, in a
// process whose only thread that polls them may be the loop's. That holds also with
// one processor and always something to read.
func TestAlone(t *testing.T) {
	for _, processors := range []int{1, 2} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			t.Parallel()
			looped, plain, _ := startAlone(t, processors)
			var conns []net.Conn
			for range 4 {
				conns = append(conns, dial(t, looped))
			}
			time.Sleep(asleep)
			for _, conn := range conns {
				defer converse(t, conn)()
			}
			for range 20 {
				talk(t, dial(t, plain), "beside")
			}
		})
	}
}

// TestBesideWork: during a conversation, with the other processor busy, a goroutine
// that the loop starts gets its turn.
func TestBesideWork(t *testing.T) {
	t.Parallel()
	looped, _, printed := startAlone(t, 2)
	starts, conn := dial(t, looped), dial(t, looped)
	talk(t, starts, "message")
	talk(t, conn, "message")
	time.Sleep(asleep)
	talk(t, conn, "work")
	stop := converse(t, conn)
	talk(t, starts, "start")
	started := make(chan string, 1)
	go func() {
		line, _ := printed.ReadString('\n')
		started <- line
	}()
	select {
	case <-started:
	case <-time.After(20 * time.Second):
		t.Error("a goroutine does not run as long as a client talks")
	}
	stop()
	talk(t, conn, "rest")
}
