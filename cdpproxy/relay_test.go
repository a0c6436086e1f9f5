package cdpproxy_test

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// TestGreeting: what a browser sends in one piece with its 101 reaches the client,
// also if the piece ends in the middle of a frame. The messages after it do too.
func TestGreeting(t *testing.T) {
	for _, size := range []int{70_000, 5_000, 66_000} { // an HTTP reader takes 4,096 bytes at once
		for _, cut := range []int{0, 3, 1000} {
			first, second := frame(size, 'a'), frame(2000, 'b')
			fake := startFake(t, "127.0.0.1:0", "greets", func(conn net.Conn) {
				conn.Write(second[cut:])
				echo(conn)
			})
			fake.greeting = append(first, second[:cut]...)
			_, addr := serve(t, newSource(fake.url()), nil)
			c := dial(t, addr, "/devtools/browser/x")
			for _, want := range []string{strings.Repeat("a", size), strings.Repeat("b", 2000)} {
				if _, got, err := c.Read(testContext(t)); err != nil || string(got) != want {
					t.Fatalf("%d bytes and %d of the next frame: got %d bytes, %v, want %d", size, cut, len(got), err,
						len(want))
				}
			}
			if got := call(t, c, getVersion); got != getVersion {
				t.Errorf("%d bytes and %d of the next frame: then %s", size, cut, got)
			}
		}
	}
}

// TestLargeMessages: the relay carries what Chromium accepts and sends whole, also
// if a rule reads it.
func TestLargeMessages(t *testing.T) {
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), nil)

	// Chromium takes messages of just under 100 MiB.
	limit := 99 << 20
	if cdptest.RaceDetector {
		limit = 5 << 20 // each byte takes many times as long
	}
	conn, br := pageOf(t, addr)
	if _, err := io.WriteString(conn,
		masked(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"6*7`+strings.Repeat(" ",
			limit-80)+`"}}`)); err != nil {
		t.Fatal(err)
	}
	if got := readFrame(t, br); !strings.HasPrefix(got, `{"id":1,"result":{"result":{"type":"number","value":42`) {
		t.Errorf("a request of %d bytes: %.200s", limit, got)
	}

	// A response may be larger.
	repeats := 12_000_000
	if cdptest.RaceDetector {
		repeats = 300_000
	}
	conn, br = pageOf(t, addr)
	io.WriteString(conn, masked(repeat(repeats)))
	size := bigFrame(t, br)
	if size < int64(repeats)*10 {
		t.Errorf("a response of %d bytes", size)
	}
	if n, err := io.CopyN(io.Discard, br, size); err != nil {
		t.Errorf("broke off after %d of %d bytes: %v", n, size, err)
	}
	io.WriteString(conn, masked(`{"id":3,"method":"Runtime.evaluate","params":{"expression":"6*7"}}`))
	if got := readFrame(t, br); !strings.Contains(got, `"value":42`) {
		t.Errorf("after it: %s", got)
	}
}

// fragments is a client's message in several frames, with a ping between any two.
func fragments(parts ...string) string {
	var b strings.Builder
	for i, part := range parts {
		first := byte(opText)
		if i > 0 {
			b.WriteString(clientFrame(0x89, pingText))
			first = 0 // continuation
		}
		if i == len(parts)-1 {
			first |= 0x80
		}
		b.WriteString(clientFrame(first, part))
	}
	return b.String()
}

const (
	opText   = 1
	pingText = "are you there"
)

// TestFragments: a client may split a message and send a ping within it; Chromium
// gets both.
func TestFragments(t *testing.T) {
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), nil)
	conn, br := rawUpgrade(t, addr)
	parts := []string{`{"id":3,"met`, `hod":"Browser`, `.getVersion"}`}
	io.WriteString(conn, fragments(parts...))
	pongs := 0
	for {
		got := readFrame(t, br)
		if got == pingText {
			pongs++
			continue
		}
		if !strings.HasPrefix(got, `{"id":3,"result"`) {
			t.Errorf("%.100s", got)
		}
		break
	}
	if pongs != len(parts)-1 {
		t.Errorf("%d pongs before the answer", pongs)
	}
}

// TestShutdown: clients get a close frame, and waiting ones get a response.
func TestShutdown(t *testing.T) {
	src := newSource(cdptest.BrowserURL(t))
	p, addr := serve(t, src, nil)
	// Browsers open connections in advance; these must not delay the shutdown.
	spare, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer spare.Close()
	c := dial(t, addr, "/devtools/browser/x") // accepted after that
	call(t, c, getVersion)
	ended := make(chan error, 1)
	go func() { ended <- p.Shutdown(testContext(t)) }()
	if _, _, err := c.Read(testContext(t)); !closes(err, websocket.StatusGoingAway, "") {
		t.Errorf("client: %v, want close 1001", err)
	}
	// It was closed before the clients were. http.Server would wait 5 s for it.
	spare.SetReadDeadline(time.Now().Add(3 * time.Second))
	if _, err := spare.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a connection without a request delays the shutdown")
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the port still answers")
	}
}

// TestSlowReader: a browser that floods a client which does not read is drained
// without pause, up to the bound. Then the client is disconnected with an error,
// after whole messages only.
func TestSlowReader(t *testing.T) {
	flooded := make(chan struct{})
	fake := startFake(t, "127.0.0.1:0", "flood", func(conn net.Conn) {
		defer close(flooded)
		for i := 0; ; i++ {
			if _, err := conn.Write(frame(10_000, 'a'+byte(i%26))); err != nil {
				return
			}
		}
	})
	_, addr := serveLimited(t, newSource(fake.url()), nil,
		cdpproxy.Limits{Buffered: 8 << 20, CloseTimeout: time.Minute}) // to read 8 MiB on a busy machine
	c := dial(t, addr, "/devtools/browser/x")
	select {
	case <-flooded: // the proxy has given up on this client
	case <-time.After(20 * time.Second):
		t.Fatal("the browser is still being drained, or is stuck")
	}
	total := 0
	for i := 0; ; i++ {
		_, b, err := c.Read(testContext(t))
		if err != nil {
			if !closes(err, websocket.StatusPolicyViolation, "too slowly") {
				t.Errorf("after %d messages: %v, want close 1008", i, err)
			}
			break
		}
		if len(b) != 10_000 || b[0] != 'a'+byte(i%26) || b[9_999] != b[0] {
			t.Fatalf("message %d is not the one that was sent", i)
		}
		total += len(b)
	}
	if total < 8<<20 {
		t.Errorf("got %d bytes, less than the bound", total)
	}
}

// TestCloseFrameInPieces: the close frame of a browser reaches its client whole.
func TestCloseFrameInPieces(t *testing.T) {
	more := make(chan struct{})
	fake := startFake(t, "127.0.0.1:0", "closes", func(conn net.Conn) {
		conn.Write([]byte{0x88})
		<-more
		conn.Write([]byte{2, 3, 0xe9})
		io.Copy(io.Discard, conn)
	})
	_, addr := serve(t, newSource(fake.url()), nil)
	_, br := rawUpgrade(t, addr)
	frame := make([]byte, 4)
	_, err := io.ReadFull(br, frame[:1])
	close(more)
	if err == nil {
		_, err = io.ReadFull(br, frame[1:])
	}
	if err != nil || string(frame) != "\x88\x02\x03\xe9" {
		t.Errorf("%x, %v", frame, err)
	}
}

// TestSwitchInFrame: the browser is replaced while it sends; its current frame is
// finished before the close frame.
func TestSwitchInFrame(t *testing.T) {
	half, rest := make(chan struct{}), make(chan struct{})
	fake := startFake(t, "127.0.0.1:0", "old", func(conn net.Conn) {
		b := append(frame(1000, 'x'), frame(1000, 'y')...)
		conn.Write(b[:500])
		close(half)
		<-rest
		conn.Write(b[500:])
		io.Copy(io.Discard, conn)
	})
	src := newSource(fake.url())
	_, addr := serve(t, src, nil)
	c := dial(t, addr, "/devtools/browser/x")
	<-half
	// The first bytes have reached the client: the frame has begun.
	_, r, err := c.Reader(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	src.set("new", "ws://127.0.0.1:9/devtools/browser/new")
	close(rest)
	b, err := io.ReadAll(r)
	if err != nil || string(b) != strings.Repeat("x", 1000) {
		t.Errorf("the frame that had begun: %d bytes, %v", len(b), err)
	}
	// The next frame arrives whole, if the browser was faster, or not at all.
	_, b, err = c.Read(testContext(t))
	if err == nil {
		if string(b) != strings.Repeat("y", 1000) {
			t.Errorf("the next frame: %d bytes", len(b))
		}
		_, _, err = c.Read(testContext(t))
	}
	if websocket.CloseStatus(err) != websocket.StatusServiceRestart {
		t.Errorf("then %v, want close 1012", err)
	}
}
