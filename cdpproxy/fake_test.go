package cdpproxy_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// fakeBrowser is for tests that need a misbehaving browser, or hundreds of them.
// Its one page has the id 1. It responds to each WebSocket message with its name,
// unless serve is set.
type fakeBrowser struct {
	name     string
	guid     string
	addr     string
	serve    func(net.Conn) // takes over an upgraded connection
	protocol []byte         // the response to /json/protocol
	greeting []byte         // sent in one piece with the 101, before serve
	http     *http.Server
	wg       sync.WaitGroup // the HTTP server
	dies     atomic.Bool    // breaks every connection that requests more than the version
	asked    counter        // requests of every kind
}

// counter counts events that a test waits for. The zero counter is ready.
type counter struct {
	mu      sync.Mutex // guards the fields that follow
	n       int
	changed chan struct{} // closed by the next count; nil: no waiter
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// until waits for the nth.
func (c *counter) until(t testing.TB, n int) {
	t.Helper()
	if !c.reaches(n, 20*time.Second) {
		t.Fatalf("counted %d, want %d", c.count(), n)
	}
}

// reaches waits for the nth, and reports whether it came in time.
func (c *counter) reaches(n int, limit time.Duration) bool {
	timeout := time.After(limit)
	for {
		c.mu.Lock()
		if c.n >= n {
			c.mu.Unlock()
			return true
		}
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-timeout:
			return false
		}
	}
}

func startFake(t testing.TB, addr, name string, serve func(net.Conn)) *fakeBrowser {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeBrowser{name: name, guid: "guid-of-" + name, addr: ln.Addr().String(), serve: serve}
	f.http = &http.Server{Handler: f}
	f.wg.Go(func() { f.http.Serve(ln) })
	t.Cleanup(f.stop)
	return f
}

func (f *fakeBrowser) stop() {
	f.http.Close()
	f.wg.Wait()
}

func (f *fakeBrowser) url() string { return "ws://" + f.addr + "/devtools/browser/" + f.guid }

func (f *fakeBrowser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked.add()
	switch {
	case strings.HasPrefix(r.URL.Path, "/json/version"):
		fmt.Fprintf(w, `{"Browser": %q, "webSocketDebuggerUrl": %q}`, f.name, f.url())
	case r.URL.Path == "/json/protocol":
		w.Write(f.protocol)
	case f.dies.Load():
		panic(http.ErrAbortHandler)
	case strings.HasPrefix(r.URL.Path, "/json/list"):
		fmt.Fprintf(w, `[{"id": "1", "title": %q}]`, f.name)
	case r.URL.Path != "/devtools/browser/"+f.guid && r.URL.Path != "/devtools/page/1":
		http.NotFound(w, r)
	case f.serve != nil:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		answer := "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: " +
			"Upgrade\r\nSec-WebSocket-Accept: " + acceptKey(r.Header.Get("Sec-WebSocket-Key")) + "\r\n\r\n"
		conn.Write(append([]byte(answer), f.greeting...))
		f.serve(conn)
	default:
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			typ, _, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), typ, []byte(f.name)) != nil {
				return
			}
		}
	}
}

// passOn returns the address of a listener in front of another one. It writes what
// clients send to sent too, and calls came for each connection.
func passOn(t testing.TB, to string, sent io.Writer, came func()) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	ctx, end := context.WithCancel(context.Background()) // t.Context() ends before what is cleaned up earlier
	pass := func(to io.Writer, from, other net.Conn) {
		io.Copy(to, from)
		other.Close()
		from.Close()
	}
	wg.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			came()
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			// Browsers keep idle connections.
			context.AfterFunc(ctx, func() { in.Close(); out.Close() })
			wg.Go(func() { pass(io.MultiWriter(out, sent), in, out) })
			wg.Go(func() { pass(in, out, in) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		end()
		wg.Wait()
	})
	return ln.Addr().String()
}

// counted returns the URL of a browser behind a listener that counts connections.
func counted(t testing.TB, browser string) (string, *counter) {
	t.Helper()
	host, count := strings.Split(browser, "/")[2], new(counter)
	return strings.Replace(browser, host, passOn(t, host, io.Discard, count.add), 1), count
}

// connect dials addr. The connection has a minute.
func connect(t testing.TB, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return conn
}

// rawUpgrade connects a WebSocket to the browser as bytes, and returns its reader too.
func rawUpgrade(t testing.TB, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn := connect(t, addr)
	return conn, upgradeOn(t, conn, addr, "/devtools/browser/x")
}

func upgradeRequest(addr, path string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: " + addr +
		"\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
}

func upgradeOn(t testing.TB, conn net.Conn, addr, path string) *bufio.Reader {
	t.Helper()
	io.WriteString(conn, upgradeRequest(addr, path))
	br := bufio.NewReader(conn)
	res, err := http.ReadResponse(br, &http.Request{Method: "GET"})
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(res, err)
	}
	return br
}

// header begins a frame of that size; bit is 0x80 for a client's.
func header(first, bit byte, size int) []byte {
	switch {
	case size < 126:
		return []byte{first, bit | byte(size)}
	case size < 1<<16:
		return binary.BigEndian.AppendUint16([]byte{first, bit | 126}, uint16(size))
	default:
		return binary.BigEndian.AppendUint64([]byte{first, bit | 127}, uint64(size))
	}
}

// clientFrame is a client's frame, with a mask of zeros.
func clientFrame(first byte, payload string) string {
	return string(append(header(first, 0x80, len(payload)), 0, 0, 0, 0)) + payload
}

// masked is a client's text frame.
func masked(text string) string { return clientFrame(0x80|opText, text) }

// frame is a server's text frame.
func frame(size int, fill byte) []byte {
	return append(header(0x80|opText, 0, size), bytes.Repeat([]byte{fill}, size)...)
}

// command is a command of that size.
func command(id int, method string, size int) string {
	text := fmt.Sprintf(`{"id":%d,"method":%q,"params":{"x":"`, id, method)
	return text + strings.Repeat("x", size-len(text)-3) + `"}}`
}

// readFrame reads an unmasked frame and returns its payload.
func readFrame(t testing.TB, r io.Reader) string {
	t.Helper()
	h := make([]byte, 2, 10)
	_, err := io.ReadFull(r, h)
	n := uint64(h[1])
	if extra := map[uint64]int{126: 2, 127: 8}[n]; err == nil && extra > 0 {
		var long [8]byte
		_, err = io.ReadFull(r, long[8-extra:])
		n = binary.BigEndian.Uint64(long[:])
	}
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}
