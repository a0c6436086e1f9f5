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
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
)

// TestLoopLeavesRoom: while the loop waits for more in a system call of which Go
// knows nothing, here for a minute, everything else goes on at once: other
// connections, timers, goroutines, the collector, a loop beside it, and the end.
func TestLoopLeavesRoom(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer cdpproxy.Linger(cdpproxy.Linger(60_000))
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
	talk(first, "one")
	talk(first, "two")
	if n := cdpproxy.Lingering(); n != 1 {
		t.Fatalf("%d loops linger", n)
	}

	get(t, addr, "/json/version", nil)
	another := dial(t, addr, "/devtools/browser/x")
	talk(another, "another client")
	other := dial(t, beside, "/devtools/browser/x")
	talk(other, "another loop")
	talk(other, "again")
	if n := cdpproxy.Lingering(); n != 1 {
		t.Errorf("%d loops linger, which leaves none of two processors", n)
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
	first.CloseNow() // nobody is there to answer a goodbye
	another.CloseNow()
	if err := p.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if n := cdpproxy.Lingering(); n != 0 {
		t.Errorf("%d loops linger after the end", n)
	}
}

// alone is set in the process of TestLoopAlone that only serves.
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
	cdpproxy.Linger(500)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p := cdpproxy.New(newSource(url), nil)
	go p.Serve(ln)
	fmt.Println(ln.Addr())
	io.Copy(io.Discard, os.Stdin)
	return p.Close()
}

// TestLoopAlone: in a process that does nothing else, whose only thread that
// waits for connections may be the loop's, a conversation that does not stop keeps
// nobody else from being heard.
func TestLoopAlone(t *testing.T) {
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), alone+"="+fake.url(), "GOMAXPROCS=2")
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if inErr != nil || outErr != nil {
		t.Fatal(inErr, outErr)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr = strings.TrimSpace(addr)

	ctx := testContext(t)
	c := dial(t, addr, "/devtools/browser/x")
	// The loop parks and the process falls asleep. If it is not asleep yet, what
	// follows is easier.
	time.Sleep(700 * time.Millisecond)
	over := make(chan struct{})
	talked := make(chan error, 1)
	go func() {
		for {
			select {
			case <-over:
				talked <- nil
				return
			default:
			}
			if err := c.Write(ctx, websocket.MessageText, []byte("on and on")); err != nil {
				talked <- err
				return
			}
			if _, _, err := c.Read(ctx); err != nil {
				talked <- err
				return
			}
		}
	}()
	for range 20 {
		if _, _, err := tryGet(addr, "/json/version", nil); err != nil {
			t.Error(err)
		}
	}
	close(over)
	if err := <-talked; err != nil {
		t.Error(err)
	}
}
