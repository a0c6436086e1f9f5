package cdpproxy_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// TestAnswersBehindAFrame: while a frame of the browser is incomplete, no response
// of the endpoint's own can be sent. The bound on the client's buffer applies to
// such responses too.
func TestAnswersBehindAFrame(t *testing.T) {
	watcher := newJoined(refuseAll{why: "no"})
	started := make(chan struct{})
	fake := startFake(t, "127.0.0.1:0", "half", func(conn net.Conn) {
		conn.Write([]byte{0x81, 100, 'x'}) // 100 bytes follow
		close(started)
		io.Copy(io.Discard, conn)
	})
	_, addr := serveLimited(t, newSource(fake.url()), &cdpproxy.Options{Rule: watcher},
		cdpproxy.Limits{Buffered: 1 << 20})
	c := dial(t, addr, "/devtools/browser/x")
	client := <-watcher.came
	<-started
	if _, _, err := c.Reader(testContext(t)); err != nil { // the frame has begun here too
		t.Fatal(err)
	}
	message := []byte(`{"id":"` + strings.Repeat("x", 30_000) + `","method":"A.b"}`)
	for range 70 {
		c.Write(testContext(t), websocket.MessageText, message) // fails when the connection has ended
	}
	select {
	case <-client.Done:
	case <-testContext(t).Done():
		t.Fatal("the client is still connected")
	}
}

// TestAnswersNotRead: a client that reads none of the endpoint's own responses is
// disconnected, like one that does not read the browser's.
func TestAnswersNotRead(t *testing.T) {
	const size, many = 30_000, 1000 // more than the buffers of such a connection
	watcher := newJoined(refuseAll{why: "no"})
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	_, addr := serveLimited(t, newSource(fake.url()), &cdpproxy.Options{Rule: watcher},
		cdpproxy.Limits{Buffered: 1 << 20})
	c := dialBy(t, addr, "/devtools/browser/x", dialSmall)
	client := <-watcher.came
	message := []byte(`{"id":"` + strings.Repeat("x", size) + `","method":"A.b"}`)
	for range many {
		if c.Write(testContext(t), websocket.MessageText, message) != nil {
			break // it has ended already
		}
	}
	<-client.Done
	for {
		_, b, err := c.Read(testContext(t))
		if err == nil && len(b) < size {
			t.Errorf("an answer of %d bytes", len(b))
		}
		if err == nil {
			continue
		}
		// A slow client may be disconnected in the middle of its queue.
		var closed websocket.CloseError
		if errors.As(err, &closed) && (closed.Code != websocket.StatusPolicyViolation ||
			!strings.Contains(closed.Reason, "too slowly")) {
			t.Errorf("%v, want close 1008", err)
		}
		return
	}
}

// TestNotUTF8: the error for a message that is not UTF-8 repeats none of it, and
// the connection continues, as with Chromium itself.
func TestNotUTF8(t *testing.T) {
	browser := cdptest.BrowserURL(t)
	_, addr := serve(t, newSource(browser), &cdpproxy.Options{Rule: new(testRule)})
	for _, addr := range []string{strings.Split(browser, "/")[2], addr} {
		conn := connect(t, addr)
		br := upgradeOn(t, conn, addr, strings.TrimPrefix(browser, "ws://"+strings.Split(browser, "/")[2]))
		for _, message := range []string{"{\"id\":\"\xff\",\"method\":\"Runtime.evaluate\"}",
			"{\"id\":1,\"method\":\"DOM.focus\",\"params\":{\"x\":\"\xff\"}}", "{\"id\":1,\"method\":\"\xc0\x80\"}"} {
			io.WriteString(conn, masked(message))
			if got := readFrame(t, br); !utf8.ValidString(got) || !strings.Contains(got, `"code":-32700`) ||
				strings.Contains(got, `"id"`) {
				t.Errorf("%s: to %q it says %q", addr, message, got)
			}
		}
		io.WriteString(conn, masked(getVersion))
		if got := readFrame(t, br); !strings.Contains(got, "Chrome/") {
			t.Errorf("%s: then %s", addr, got)
		}
	}
}

// TestErrorsAreShort: the error for a message that cannot be read repeats little of it:
// nothing else bounds the memory for it.
func TestErrorsAreShort(t *testing.T) {
	fake := startFake(t, "127.0.0.1:0", "echo", echo)
	_, addr := serve(t, newSource(fake.url()), nil)
	conn, br := rawUpgrade(t, addr)
	long := strings.Repeat("x", 1<<20)
	for _, message := range []string{
		`{"id":"` + long + `","id":1}`, `{"id":"` + long + `"`, `{"id":[` + long + `]}`, `{"id":"` + long +
			`","method":1}`, `{"id":"` + long + `","method":"A.b","sessionId":1}`,
		`{"` + long + `":1,"` + long + `":1}`, `{"id":1,"method":"A.b","sessionId":"` + long +
			`"}`, `{"id":1,"method":"` + long + `"}`,
	} {
		io.WriteString(conn, masked(message))
		if got := readFrame(t, br); !strings.Contains(got, `"code":-32700`) || len(got) > 1000 {
			t.Errorf("%.40s: %d bytes, %.300s", message, len(got), got)
		}
	}
}
