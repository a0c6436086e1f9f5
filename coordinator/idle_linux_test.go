package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func descriptors(t *testing.T, p *os.Process) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// quietBrowser stands in for a browser with thousands of connections, for which a real
// one would need gigabytes. It accepts connections and sends nothing.
type quietBrowser struct {
	url  string
	open atomic.Int32 // connections
}

func startQuietBrowser(t *testing.T) *quietBrowser {
	b := new(quietBrowser)
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.url = strings.Replace(server.URL, "http", "ws", 1) + "/devtools/browser/quiet"
	return b
}

func (b *quietBrowser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/json/version") {
		fmt.Fprintf(w, `{"Browser": "Quiet/1", "webSocketDebuggerUrl": %q}`, b.url)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	b.open.Add(1)
	defer b.open.Add(-1)
	io.Copy(io.Discard, conn)
}

// connect opens a WebSocket without a client library.
func connect(addr string) (net.Conn, *bufio.Reader, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	io.WriteString(conn, "GET /devtools/browser/x HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	br := bufio.NewReaderSize(conn, 512)
	res, err := http.ReadResponse(br, nil)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		err = errors.New(res.Status)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, br, nil
}

// crowd opens n connections.
func crowd(t *testing.T, addr string, n int) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, n)
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := worker; i < n; i += 16 {
				conn, _, err := connect(addr)
				if err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
				conns[i] = conn
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return conns
}

// settled waits until the condition holds. No event reports that a process has closed
// its last descriptor or released memory.
func settled(what func() bool) bool {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if what() {
			return true
		}
	}
	return false
}

// TestIdleConnections: 5,000 silent clients cost two descriptors and at most 10 kB each.
// After they disconnect no descriptor is left.
func TestIdleConnections(t *testing.T) {
	const clients, most = 5000, 10.0 // kB
	dir, shop := t.TempDir(), folder(t, "shop")
	browser := startQuietBrowser(t)
	windowOf(t, dir, shop, browser.url)
	process, addr := serveShipped(t, dir, shop)

	closeAll := func(conns []net.Conn) {
		for _, conn := range conns {
			conn.Close()
		}
		if !settled(func() bool { return browser.open.Load() == 0 }) {
			t.Fatalf("%d connections to the browser stay", browser.open.Load())
		}
	}
	closeAll(crowd(t, addr, 200)) // warms up the process
	before, files := kilobytes(t, process, "VmRSS"), 0
	settled(func() bool { now := descriptors(t, process); same := now == files; files = now; return same })

	conns := crowd(t, addr, clients)
	if !settled(func() bool { return int(browser.open.Load()) == clients }) {
		t.Fatalf("%d connections to the browser", browser.open.Load())
	}
	if got := descriptors(t, process) - files; got != 2*clients {
		t.Errorf("%d descriptors for %d clients", got, clients)
	}
	crowded := kilobytes(t, process, "VmRSS")
	each := float64(crowded-before) / clients
	t.Logf("%.1f kB for each idle client", each)
	if each > most {
		t.Errorf("%.1f kB for each idle client, want at the most %.0f", each, most)
	}
	closeAll(conns)
	if !settled(func() bool { return descriptors(t, process) == files }) {
		t.Errorf("%d descriptors before, %d after", files, descriptors(t, process))
	}
}
