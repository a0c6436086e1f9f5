package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/internal/toolstest"
)

// buildReleased builds the coordinator as released, once.
var buildReleased = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(toolstest.Dir, "released")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

// serveReleased runs `coordinator serve` as released: the race detector would multiply
// its memory.
func serveReleased(t *testing.T, workspace string) *running {
	t.Helper()
	path, err := buildReleased()
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(context.Background(), t, toolstest.Dir, "serve", "--workspace", workspace)
	cmd.Path = path
	return startCommand(t, cmd)
}

// kilobytes reads a value of the process's status.
func (r *running) kilobytes(t *testing.T, name string) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), name+":")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (r *running) descriptors(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// The coordinator relays 50 MB from a real browser without holding them in memory.
func TestMemoryWhileLargeReplyPasses(t *testing.T) {
	t.Parallel()
	const size, most = 50_000_000, 16_000 // bytes, kB
	w := toolstest.OpenWindow(t)
	serving := serveReleased(t, w.Folder)
	page := joinPage(t, serving.first, "test")
	page.SetReadLimit(-1)
	// The coordinator buffers what a busy client does not read, so a busy machine gets
	// more than one try.
	grown := 0
	for try := 0; try == 0 || try < 4 && grown > most; try++ {
		// Reset VmHWM, which otherwise is the maximum since the start.
		if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", serving.cmd.Process.Pid), []byte("5"), 0); err != nil {
			t.Fatal(err)
		}
		before := serving.kilobytes(t, "VmRSS")
		page.send("Runtime.evaluate", fmt.Sprintf(`{"expression":"'0123456789'.repeat(%d)"}`, size/10))
		_, r, err := page.Reader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); err != nil || n < size {
			t.Fatalf("a reply of %d bytes: %v", n, err)
		}
		grown = serving.kilobytes(t, "VmHWM") - before
		t.Logf("%d kB more while %d bytes passed", grown, size)
	}
	if grown > most {
		t.Errorf("%d kB more while %d bytes passed, want at the most %d", grown, size, most)
	}
}

// quietBrowser stands in for a browser with thousands of connections, for which a real
// one would need gigabytes. It accepts connections and sends nothing.
func quietBrowser(t *testing.T, open *atomic.Int32) (url string) {
	server := httptest.NewServer(nil)
	t.Cleanup(server.Close)
	url = strings.Replace(server.URL, "http", "ws", 1) + "/devtools/browser/quiet"
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/json/version") {
			fmt.Fprintf(w, `{"Browser": "Quiet/1", "webSocketDebuggerUrl": %q}`, url)
			return
		}
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		open.Add(1)
		defer open.Add(-1)
		defer c.CloseNow()
		c.Read(t.Context()) // until the client disconnects
	})
	return url
}

// openRaw opens a connection without a client library.
func openRaw(addr string) (net.Conn, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	io.WriteString(conn, "GET /devtools/browser/x HTTP/1.1\r\nHost: localhost\r\n"+
		"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err == nil && res.StatusCode != http.StatusSwitchingProtocols {
		err = errors.New(res.Status)
	}
	return conn, err
}

// openIdle opens connections that send nothing.
func openIdle(t *testing.T, addr string, n int) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, n)
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for i := worker; i < n; i += 16 {
				var err error
				if conns[i], err = openRaw(addr); err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
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
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if what() {
			return true
		}
	}
	return false
}

// 1,000 silent clients cost two descriptors and at most 20 kB each. A few more are too
// many. After they disconnect no descriptor is left.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	const clients, most = 1000, 20.0 // kB
	var open atomic.Int32
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), quietBrowser(t, &open))
	serving := serveReleased(t, w.Folder)
	addr := strings.TrimPrefix(serving.first, "http://")
	closeAll := func(conns []net.Conn) {
		for _, conn := range conns {
			conn.Close()
		}
		if !settled(func() bool { return open.Load() == 0 }) {
			t.Fatalf("%d connections to the browser stay", open.Load())
		}
	}
	closeAll(openIdle(t, addr, 200)) // warms up the process
	before, files := serving.kilobytes(t, "VmRSS"), 0
	settled(func() bool { now := serving.descriptors(t); same := now == files; files = now; return same })

	conns := openIdle(t, addr, clients)
	if !settled(func() bool { return int(open.Load()) == clients }) {
		t.Fatalf("%d connections to the browser", open.Load())
	}
	const own = 5 // the process may have opened or closed meanwhile
	if !settled(func() bool { rest := serving.descriptors(t) - files - 2*clients; return rest >= -own && rest <= own }) {
		t.Errorf("%d descriptors for %d clients", serving.descriptors(t)-files, clients)
	}
	each := float64(serving.kilobytes(t, "VmRSS")-before) / clients
	t.Logf("%.1f kB for each idle client", each)
	if each > most {
		t.Errorf("%.1f kB for each idle client, want at the most %.0f", each, most)
	}
	for len(conns) <= 1024 {
		conn, err := openRaw(addr)
		if err != nil {
			if len(conns) != 1024 ||
				!strings.Contains(err.Error(), "503 1024 clients use this endpoint, and it accepts no more") {
				t.Errorf("the client after %d others: %v", len(conns), err)
			}
			conn.Close()
			break
		}
		conns = append(conns, conn)
	}
	if len(conns) > 1024 {
		t.Errorf("%d clients are connected", len(conns))
	}
	closeAll(conns)
	closeAll(openIdle(t, addr, 1)) // there is room again
	if !settled(func() bool { return serving.descriptors(t) <= files+own }) {
		t.Errorf("%d descriptors before, %d after", files, serving.descriptors(t))
	}
}

// What the coordinator has kept of unfinished messages is the system's again soon after
// their clients have left.
func TestMemoryIsGivenBack(t *testing.T) {
	t.Parallel()
	const clients, size, most = 4, 60 << 20, 32 << 10 // kB
	var open atomic.Int32
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), quietBrowser(t, &open))
	serving := serveReleased(t, w.Folder)
	before := serving.kilobytes(t, "VmRSS")
	unfinished := append(binary.BigEndian.AppendUint64([]byte{0x81, 0xff}, size), make([]byte, 4+size-1)...)
	conns := openIdle(t, strings.TrimPrefix(serving.first, "http://"), clients)
	for _, conn := range conns {
		if _, err := conn.Write(unfinished); err != nil {
			t.Fatal(err)
		}
	}
	kept := func() int { return serving.kilobytes(t, "VmRSS") - before }
	if !settled(func() bool { return kept() > clients*size>>10*9/10 }) {
		t.Fatalf("%d kB are kept of %d messages of %d bytes", kept(), clients, size)
	}
	for _, conn := range conns {
		conn.Close()
	}
	if !settled(func() bool { return kept() < most }) {
		t.Errorf("%d kB are kept after the clients have left, want at most %d", kept(), most)
	}
}
