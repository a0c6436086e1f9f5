//go:build !noeventloop

package cdpproxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/eventloop"
)

// TestLoopLeavesRoom: the loop waits for more in a system call that Go does not
// see, here for a minute. Meanwhile everything else proceeds at once: other
// connections, timers, goroutines, the collector, another loop, and the shutdown.
func TestLoopLeavesRoom(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer eventloop.Linger(eventloop.Linger(60_000))
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	p, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{})
	_, beside := serve(t, newSource(fake.url()), &cdpproxy.Options{})
	ctx := testContext(t)
	talk := func(c *websocket.Conn, text string) {
		t.Helper()
		if err := c.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.Read(ctx); err != nil || string(got) != text {
			t.Fatalf("%q, %v; want %q", got, err, text)
		}
	}
	first := dial(t, addr, "/devtools/browser/x")
	eventually(t, func() bool { // a signal may end it
		talk(first, "one")
		return eventloop.Lingering() == 1
	})

	get(t, addr, "/json/version", nil)
	another := dial(t, addr, "/devtools/browser/x")
	talk(another, "another client")
	other := dial(t, beside, "/devtools/browser/x")
	for range 10 {
		talk(other, "another loop")
		talk(first, "two")
		if n := eventloop.Lingering(); n > 1 {
			t.Fatalf("%d loops linger, which leaves none of two processors", n)
		}
	}
	for range 3 {
		runtime.GC()
	}
	select {
	case <-time.After(time.Millisecond):
	case <-ctx.Done():
		t.Error("a timer of a millisecond never fired")
	}
	talk(first, "three")
	first.CloseNow() // no peer would respond to a close frame
	another.CloseNow()
	if err := p.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if n := eventloop.Lingering(); n != 0 {
		t.Errorf("%d loops linger after the end", n)
	}
}

// alone is set in a process that only serves.
const alone = "CDPPROXY_TEST_ALONE"

func init() {
	if url := os.Getenv(alone); url != "" {
		if err := serveAlone(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// serveAlone serves the browser at url until its input ends.
func serveAlone(url string) error {
	eventloop.Linger(500)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p := cdpproxy.New(newSource(url), &cdpproxy.Options{Rule: new(worker)})
	go p.Serve(ln)
	fmt.Println(ln.Addr())
	io.Copy(io.Discard, os.Stdin)
	return p.Close()
}

// worker passes everything. From A.work to A.rest a goroutine keeps a processor
// busy, without a system call.
type worker struct{ works atomic.Bool }

func (w *worker) Judge(m *cdpproxy.Message) cdpproxy.Verdict {
	switch m.Method {
	case "A.work":
		w.works.Store(true)
		go func() {
			for w.works.Load() {
			}
		}()
	case "A.rest":
		w.works.Store(false)
	}
	return cdpproxy.Verdict{}
}

// startAlone serves the browser at url by a process that does nothing else, with so
// many processors.
func startAlone(t *testing.T, url string, processors int) (addr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), alone+"="+url, fmt.Sprint("GOMAXPROCS=", processors))
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
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// asleep is how long such a process is left idle, until Go's scheduler sleeps in
// it. If it does not sleep yet, the test is only easier to pass.
const asleep = 700 * time.Millisecond

// converse exchanges messages on c without a pause, until stop is called.
func converse(t *testing.T, c *websocket.Conn) (stop func()) {
	ctx := testContext(t)
	over, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-over:
				ended <- nil
				return
			default:
			}
			err := c.Write(ctx, websocket.MessageText, []byte(`{"id":1,"method":"A.b"}`))
			if err == nil {
				_, _, err = c.Read(ctx)
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	return func() {
		close(over)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestLoopAlone: conversations without a pause do not block other clients, in a
// process whose only thread that polls connections may be the loop's. That holds
// also with one processor and always something to read.
func TestLoopAlone(t *testing.T) {
	for _, processors := range []int{1, 2} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			fake := startFake(t, "127.0.0.1:0", "echo", echo)
			addr := startAlone(t, fake.url(), processors)
			var clients []*websocket.Conn
			for range 4 {
				clients = append(clients, dial(t, addr, "/devtools/browser/x"))
			}
			time.Sleep(asleep)
			for _, c := range clients {
				defer converse(t, c)()
			}
			for range 20 {
				if _, _, err := tryGet(addr, "/json/version", nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestLoopBesideWork: during a conversation, with the other processor busy, the
// work that the loop starts gets its turn. Here that is another client's end, which
// must reach the browser.
func TestLoopBesideWork(t *testing.T) {
	gone := make(chan struct{}, 2)
	fake := startFake(t, "127.0.0.1:0", "echo", func(conn net.Conn) {
		echo(conn)
		gone <- struct{}{}
	})
	addr := startAlone(t, fake.url(), 2)
	leaves, c := dial(t, addr, "/devtools/browser/x"), dial(t, addr, "/devtools/browser/x")
	for _, client := range []*websocket.Conn{leaves, c} {
		call(t, client, `{"id":1,"method":"A.b"}`)
	}
	time.Sleep(asleep)
	call(t, c, `{"id":1,"method":"A.work"}`)
	stop := converse(t, c)
	leaves.CloseNow()
	select {
	case <-gone:
	case <-time.After(3 * time.Second):
		t.Error("the browser does not hear that a client has left, as long as another one talks")
	}
	stop()
	call(t, c, `{"id":1,"method":"A.rest"}`)
}

// TestLoopParks: when no data comes, the loop releases its processor.
func TestLoopParks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	_, addr := serve(t, newSource(fake.url()), nil)
	c := dial(t, addr, "/devtools/browser/x")
	for range 3 {
		call(t, c, `{"id":1,"method":"A.b"}`)
	}
	eventually(t, func() bool { return eventloop.Lingering() == 0 })
}
