package cdpproxy_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// repeat asks a page for a response of n*10 bytes.
func repeat(n int) string {
	return fmt.Sprintf(`{"id":2,"method":"Runtime.evaluate","params":{"expression":"'0123456789'.repeat(%d)"}}`, n)
}

// pageOf connects to a new tab without a WebSocket library, so that the test can
// count bytes without storing them.
func pageOf(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn := connect(t, addr)
	return conn, upgradeOn(t, conn, addr, "/devtools/page/"+openTab(t, addr))
}

// bigFrame reads the header of a frame of 64 kB or more and returns the length
// of its payload.
func bigFrame(t *testing.T, r io.Reader) int64 {
	t.Helper()
	var h [10]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		t.Fatal(err)
	}
	if h[0] != 0x81 || h[1] != 127 {
		t.Fatalf("a frame begins with %x, want a whole message of 64 kB or more", h[:2])
	}
	return int64(binary.BigEndian.Uint64(h[2:]))
}

// TestKilledInReply: the browser is killed in the middle of a response of 20 MB.
// Its client sees a broken connection at once. The next browser serves the next
// client.
func TestKilledInReply(t *testing.T) {
	t.Parallel()
	src := newSource("")
	_, addr := serve(t, src, nil)
	for try := 1; ; try++ {
		c := cdptest.Launch(t)
		src.set("old", c.URL())
		conn, br := pageOf(t, addr)
		io.WriteString(conn, masked(repeat(2_000_000)))
		size := bigFrame(t, br)
		cdptest.Kill(c)
		killed := time.Now()
		n, err := io.CopyN(io.Discard, br, size)
		if err == nil && try < 5 {
			continue // it had sent everything
		}
		if err == nil {
			t.Fatal("the reply came whole each time: nothing was tested")
		}
		if took := time.Since(killed); took > 2*time.Second {
			t.Errorf("notified %v after the browser's end, by %v", took, err)
		}
		t.Logf("broke off after %d of %d bytes: %v", n, size, err)
		break
	}
	src.set("new", cdptest.BrowserURL(t))
	if got := call(t, dial(t, addr, "/devtools/browser/x"), getVersion); !strings.Contains(got, "Chrome/") {
		t.Errorf("the next browser says %s", got)
	}
}

// TestPipelined: a request and the upgrade in one packet get their responses one after the
// other. The offer of permessage-deflate is declined. A frame that comes with the upgrade is
// refused: Chromium closes such a connection.
func TestPipelined(t *testing.T) {
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), nil)
	const upgrade = "GET /devtools/browser/x HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: " +
		"Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
		"dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
	for frames, status := range map[string]int{"": 101, masked(getVersion): 400} {
		conn := connect(t, addr)
		io.WriteString(conn, "GET /json/version HTTP/1.1\r\nHost: localhost\r\n\r\n"+upgrade+frames)
		br := bufio.NewReader(conn)
		for _, want := range []int{200, status} {
			res, err := http.ReadResponse(br, nil)
			if err != nil || res.StatusCode != want {
				t.Fatalf("%v %v, want HTTP %d", res, err, want)
			}
			switch ext := res.Header.Get("Sec-WebSocket-Extensions"); {
			case want != 101:
				io.Copy(io.Discard, res.Body)
			case ext != "" || res.Header.Get("Sec-WebSocket-Accept") != "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=":
				t.Errorf("the handshake has %v", res.Header)
			}
		}
		if status == 101 {
			io.WriteString(conn, masked(getVersion))
			if got := readFrame(t, br); !strings.HasPrefix(got, `{"id":1,"result"`) {
				t.Errorf("a frame after the upgrade: %.80s", got)
			}
		}
	}
}

// TestAnswerNotRead: clients that never read their response block no other client
// and no shutdown.
func TestAnswerNotRead(t *testing.T) {
	t.Parallel()
	fake := startFake(t, "127.0.0.1:0", "much", nil)
	fake.protocol = make([]byte, 5<<20) // more than the system buffers for a connection
	p, addr := serveLimited(t, newSource(fake.url()), nil, cdpproxy.Limits{HTTPTimeout: 2 * time.Second})
	for range 2 * 6 { // twice the exchanges under way at a time
		conn := connect(t, addr)
		conn.(*net.TCPConn).SetReadBuffer(4096)
		io.WriteString(conn, "GET /json/protocol HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if status, body := get(t, addr, "/json/list", nil); status != 200 {
		t.Errorf("meanwhile: HTTP %d %s", status, body)
	}
	if err := p.Shutdown(testContext(t)); err != nil {
		t.Errorf("the end waits for clients that do not read: %v", err)
	}
}

// TestSlowLoris: hundreds of connections that never finish their request, or its
// body, block no other client, and are closed.
func TestSlowLoris(t *testing.T) {
	t.Parallel()
	const many = 300
	_, addr := serveLimited(t, newSource(cdptest.BrowserURL(t)), nil, cdpproxy.Limits{HTTPTimeout: 2 * time.Second})
	var ended sync.WaitGroup
	for i := range many {
		conn := connect(t, addr)
		switch i % 3 {
		case 0:
			io.WriteString(conn, "GET /json/version HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		case 1:
			io.WriteString(conn, "POST /json/version HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nslow")
		}
		ended.Go(func() {
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a request that never ends was waited for during 30 s")
			}
		})
	}
	if got := call(t, dial(t, addr, "/devtools/browser/x"), getVersion); !strings.Contains(got, "Chrome/") {
		t.Errorf("meanwhile: %s", got)
	}
	ended.Wait()
}

// rounds is how many times a test repeats: few in `test`, many in `soak`.
func rounds(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("CDPPROXY_ROUNDS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("CDPPROXY_ROUNDS=%s: %v", text, err)
	}
	return n
}
