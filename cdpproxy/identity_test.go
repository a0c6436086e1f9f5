package cdpproxy_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/cdp"
)

const impostorAt = "impostor at "

// impostorAsChild listens at the port of a browser that has ended, and responds
// like a browser. Once its input ends it prints everything that it has received.
func impostorAsChild(addr string) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listening")
	var mu sync.Mutex
	var sent strings.Builder
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				b := make([]byte, 4096)
				for {
					n, err := conn.Read(b)
					mu.Lock()
					sent.Write(b[:n])
					mu.Unlock()
					if err != nil {
						return
					}
					body := `{"webSocketDebuggerUrl": "ws://` + addr + `/devtools/browser/impostor"}`
					fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				}
			}()
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	mu.Lock()
	defer mu.Unlock()
	fmt.Printf("%q\n", sent.String())
}

// tryAll connects in every way that reaches a browser's port, and returns the
// responses.
func tryAll(t *testing.T, addr, browser string) map[string]string {
	t.Helper()
	answers := map[string]string{}
	for _, path := range []string{"/json/version", "/json/list", "/json/close/1"} {
		status, body := get(t, addr, path, nil)
		answers[path] = fmt.Sprintf("HTTP %d %s", status, body)
	}
	for _, path := range []string{"/devtools/browser/x", "/devtools/page/1"} {
		conn, res, err := websocket.Dial(testContext(t), "ws://"+addr+path, nil)
		if err == nil {
			conn.CloseNow()
			t.Errorf("%s: connected", path)
			continue
		}
		body, _ := io.ReadAll(res.Body)
		answers[path] = fmt.Sprintf("HTTP %d %s", res.StatusCode, body)
	}
	conn, err := cdp.Dial(testContext(t), browser, nil)
	if err == nil {
		conn.Close()
		t.Error("the tools' own connection: connected")
	} else {
		answers["the tools' own connection"] = err.Error()
	}
	return answers
}

// TestAnotherProgramOfTheUser: another program of the same user has taken the port
// of a browser that has ended. It does not get the browser's GUID, which would
// suffice to impersonate the browser.
func TestAnotherProgramOfTheUser(t *testing.T) {
	fake := startFake(t, "127.0.0.1:0", "other", nil)
	var sent recorder
	address := passOn(t, fake.addr, &sent, func() {})
	for _, prefix := range []string{"", "/secret"} {
		browser := "ws://" + address + prefix + "/devtools/browser/named"
		_, addr := serve(t, newSource(browser), &cdpproxy.Options{HoldTimeout: cdpproxy.NoHold})
		for way, answer := range tryAll(t, addr, browser) {
			if prefix == "" && !strings.Contains(answer, "another browser listens at "+address) {
				t.Errorf("%s: %s", way, answer)
			}
		}
	}
	sent.mu.Lock()
	defer sent.mu.Unlock()
	if all := sent.sent.String(); strings.Contains(all, "named") || !strings.Contains(all, "GET /json/version") {
		t.Errorf("it was sent %s", all)
	}
}

// TestEndless: an endless response of a program at a browser's port is cut off
// early, for every request.
func TestEndless(t *testing.T) {
	for name, begins := range map[string]string{
		"status line": "HTTP/1.1 200 ",
		"headers":     "HTTP/1.1 200 OK\r\nX: ",
		"body":        "HTTP/1.1 200 OK\r\n\r\n",
		"chunk":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
		"extension":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var serving sync.WaitGroup
			var taken atomic.Int64
			serving.Go(func() {
				for {
					conn, err := ln.Accept()
					if err != nil {
						return
					}
					serving.Go(func() {
						defer conn.Close()
						conn.SetDeadline(time.Now().Add(time.Minute))
						io.WriteString(conn, begins)
						more := []byte(strings.Repeat("x", 1000))
						for {
							n, err := conn.Write(more)
							taken.Add(int64(n))
							if err != nil || taken.Load() > 1<<30 {
								return
							}
						}
					})
				}
			})
			t.Cleanup(func() {
				ln.Close()
				serving.Wait()
			})
			browser := "ws://" + ln.Addr().String() + "/devtools/browser/named"
			_, addr := serve(t, newSource(browser), &cdpproxy.Options{HoldTimeout: cdpproxy.NoHold})
			ways := tryAll(t, addr, browser)
			for way, answer := range ways {
				if strings.HasPrefix(answer, "HTTP ") && !strings.HasPrefix(answer, "HTTP 502 ") {
					t.Errorf("%s: %s", way, answer)
				}
			}
			// The kernel's buffers on both sides of a connection, and a little
			// more.
			if limit := int64(len(ways)) * (16 << 20); taken.Load() > limit {
				t.Errorf("%d bytes in %d ways", taken.Load(), len(ways))
			}
		})
	}
}
