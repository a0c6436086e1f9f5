package cdplog_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/cdplog"
)

// dialAs connects to addr as another user: the kernel takes the socket's owner from the
// thread that creates it, and the thread ends with the goroutine.
func dialAs(t *testing.T, uid int, addr string) net.Conn {
	t.Helper()
	type result struct {
		conn net.Conn
		err  error
	}
	dialed := make(chan result)
	go func() {
		runtime.LockOSThread() // for good
		if uid != os.Getuid() {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); errno != 0 {
				dialed <- result{err: errno}
				return
			}
		}
		conn, err := net.Dial("tcp", addr)
		dialed <- result{conn, err}
	}()
	r := <-dialed
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { r.conn.Close() })
	r.conn.SetDeadline(time.Now().Add(20 * time.Second))
	return r.conn
}

// TestOnlyTheOwnUser: a recording may hold all data of a browser. Neither another user of
// the machine nor a web page gets any of it.
func TestOnlyTheOwnUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to connect as another user")
	}
	p, err := cdplog.Open(record(t, `{"Browser":"Recorded/1"}`, `[]`, sent(`{"id":1,"method":"Page.enable"}`)))
	if err != nil {
		t.Fatal(err)
	}
	addr := served(t, p)
	upgrade := "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	for name, c := range map[string]struct {
		uid          int
		host, header string
		let          bool
	}{
		"the same user":                        {os.Getuid(), addr, "", true},
		"another user":                         {12345, addr, "", false},
		"a page under a name that was rebound": {os.Getuid(), "rebound.test", "", false},
		"a page":                               {os.Getuid(), addr, "Origin: https://page.test\r\n", false},
		"a page's image":                       {os.Getuid(), addr, "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", false},
	} {
		for path, more := range map[string]string{"/json/version": "", "/json/list": "", "/json/protocol": "", "/devtools/browser/x": upgrade} {
			conn := dialAs(t, c.uid, addr)
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n", path, c.host, c.header, more)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := http.StatusForbidden
			switch {
			case c.let && more != "":
				want = http.StatusSwitchingProtocols
			case c.let:
				want = http.StatusOK
			}
			if res.StatusCode != want {
				t.Errorf("%s, %s: %s, want %d", name, path, res.Status, want)
			}
		}
	}
}

// TestOnlyWithTheToken: with a token, no client is admitted without it, and the addresses
// in discovery documents have it.
func TestOnlyWithTheToken(t *testing.T) {
	p, err := cdplog.Open(record(t, `{"webSocketDebuggerUrl":"ws://127.0.0.1:1/devtools/browser/x"}`, `[]`, sent(`{"id":1,"method":"Page.enable"}`)))
	if err != nil {
		t.Fatal(err)
	}
	p.Admission = cdpproxy.NewAdmission(&cdpproxy.Options{Token: "secret", RequireToken: true})
	addr := served(t, p)
	var version struct{ WebSocketDebuggerURL string }
	document(t, "http://"+addr+"/secret/json/version", &version)
	if version.WebSocketDebuggerURL != "ws://"+addr+"/secret/devtools/browser/x" {
		t.Errorf("the client is sent to %q", version.WebSocketDebuggerURL)
	}
	join(t, addr, strings.TrimPrefix(version.WebSocketDebuggerURL, "ws://"+addr), "Go program")
	res, err := http.Get("http://" + addr + "/json/version")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("without the token: %s", res.Status)
	}
}
