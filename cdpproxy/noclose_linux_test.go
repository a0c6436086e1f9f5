package cdpproxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// likeRod connects like rod, with rod's key, and then sends first.
func likeRod(t *testing.T, addr, path, first string) *bufio.Reader {
	t.Helper()
	conn := connect(t, addr)
	io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: "+addr+"\r\nUpgrade: websocket\r\nConnection: "+
		"Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: nil\r\nUser-Agent: Go-http-client/1.1\r\n\r\n")
	br := bufio.NewReader(conn)
	res, err := http.ReadResponse(br, &http.Request{Method: http.MethodGet})
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols ||
		res.Header.Get("Sec-WebSocket-Accept") != acceptKey("nil") {
		t.Fatalf("%v, %v", res, err)
	}
	io.WriteString(conn, first)
	return br
}

// TestWithoutCloseFrame: a client that cannot read close frames gets end-of-file
// alone, as from Chromium, however its connection ends.
func TestWithoutCloseFrame(t *testing.T) {
	for name, c := range map[string]struct {
		hangsUp bool   // the browser then closes the connection
		closes  bool   // the browser sends a close frame
		first   string // that the client sends
		end     func(*source)
	}{
		"the browser ends":       {end: func(s *source) { s.set("", "") }},
		"another browser comes":  {end: func(s *source) { s.set("next", "ws://127.0.0.1:1/devtools/browser/x") }},
		"the browser hangs up":   {hangsUp: true},
		"the browser closes":     {closes: true},
		"the client breaks form": {first: "\x82\x80\x00\x00\x00\x00", end: func(*source) {}},
	} {
		t.Run(name, func(t *testing.T) {
			connected := make(chan struct{})
			ended := make(chan struct{})
			fake := startFake(t, "127.0.0.1:0", "fake", func(conn net.Conn) {
				close(connected)
				if c.closes {
					conn.Write([]byte{0x88, 2, 0x03, 0xe9})
				}
				if !c.hangsUp {
					<-ended
				}
			})
			src := newSource(fake.url())
			_, addr := serve(t, src, nil)
			defer close(ended)
			br := likeRod(t, addr, "/devtools/browser/x", c.first)
			<-connected
			if c.end != nil {
				c.end(src)
			}
			got, err := io.ReadAll(br)
			if len(got) > 0 || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestUnreadableKey: a browser never gets such a key, since not every server
// accepts one (package virtual does not). No key at all is refused.
func TestUnreadableKey(t *testing.T) {
	fake := startFake(t, "127.0.0.1:0", "fake", nil) // by coder/websocket, like package virtual
	_, addr := serve(t, newSource(fake.url()), nil)
	br := likeRod(t, addr, "/devtools/browser/x", masked(getVersion))
	if got := readFrame(t, br); got != "fake" {
		t.Errorf("got %q", got)
	}
	if a := ask(t, addr, "GET /devtools/browser/x HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: "+
		"Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: \r\n\r\n"); a.status != 400 {
		t.Errorf("without a key: HTTP %d", a.status)
	}
}
