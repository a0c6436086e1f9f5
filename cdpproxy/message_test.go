package cdpproxy_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/cdptest"
)

// TestByteByByte: a message of a reasonable size may come in frames of one byte.
func TestByteByByte(t *testing.T) {
	text := `{"id":1,"method":"A.b","params":{"x":"` + strings.Repeat("x", 200_000) + `"}}`
	var frames []byte
	for i := range len(text) {
		first := byte(0x00)
		switch i {
		case 0:
			first = 0x01
		case len(text) - 1:
			first = 0x80
		}
		frames = append(frames, first, 0x81, 0, 0, 0, 0, text[i])
	}
	received := make(chan bool, 1)
	fake := startFake(t, "127.0.0.1:0", "listens", func(conn net.Conn) {
		all := make([]byte, len(frames))
		io.ReadFull(conn, all)
		received <- bytes.Equal(all, frames)
	})
	rule := newRule()
	_, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{Rule: rule})
	conn, _, _ := rawUpgrade(t, addr, "", "")
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	conn.Write(frames)
	same := <-received
	rule.mu.Lock()
	defer rule.mu.Unlock()
	if !same || !slices.Equal(rule.seen, []string{"A.b"}) {
		t.Errorf("the browser received something else; judged: %q", rule.seen)
	}
}

// TestAnswersBehindAFrame: while a frame of the browser is incomplete, no response
// of the endpoint's own can be sent. The bound on the client's buffer applies to
// such responses too.
func TestAnswersBehindAFrame(t *testing.T) {
	watcher := newJoined()
	begun := make(chan struct{})
	fake := startFake(t, "127.0.0.1:0", "half", func(conn net.Conn) {
		conn.Write([]byte{0x81, 100, 'x'}) // 100 bytes follow
		close(begun)
		io.Copy(io.Discard, conn)
	})
	_, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{MaxBuffered: 1 << 20, Rule: refuseAll{why: "no"}, Watcher: watcher})
	c := dial(t, addr, "/devtools/browser/x")
	client := <-watcher.came
	<-begun
	if _, _, err := c.Reader(testContext(t)); err != nil { // the frame has begun here too
		t.Fatal(err)
	}
	message := []byte(`{"id":"` + strings.Repeat("x", 100_000) + `","method":"A.b"}`)
	for range 20 {
		c.Write(testContext(t), websocket.MessageText, message) // fails when the connection has ended
	}
	select {
	case <-client.Done:
	case <-testContext(t).Done():
		t.Fatal("the client is still connected")
	}
}

// TestAnswersNotRead: a client that reads none of the endpoint's own responses is
// disconnected with the reason, like one that does not read the browser's.
func TestAnswersNotRead(t *testing.T) {
	const size = 6 << 20 // more than the buffers of such a connection
	for name, late := range map[string]bool{"at once": false, "after a decision": true} {
		t.Run(name, func(t *testing.T) {
			watcher := newJoined()
			var rule cdpproxy.Rule = refuseAll{why: "no"}
			if late {
				rule = lateRule{rule}
			}
			fake := startFake(t, "127.0.0.1:0", "echo", echo)
			log := make(leaving, 1)
			_, addr := serve(t, newSource(fake.url()), &cdpproxy.Options{
				MaxBuffered: 1 << 20, Rule: rule, Watcher: watcher,
				Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			c := dialBy(t, addr, "/devtools/browser/x", dialSmall)
			client := <-watcher.came
			message := []byte(`{"id":"` + strings.Repeat("x", size) + `","method":"A.b"}`)
			for range 4 {
				// It fails when the connection has ended, too early for a slow
				// writer.
				if c.Write(testContext(t), websocket.MessageText, message) != nil {
					break
				}
			}
			select {
			case <-client.Done:
			case <-testContext(t).Done():
				t.Fatal("the client is still connected")
			}
			// A slow client may be disconnected in the middle of its queue.
			for {
				_, b, err := c.Read(testContext(t))
				if err == nil {
					if len(b) < size {
						t.Errorf("an answer of %d bytes", len(b))
					}
					continue
				}
				var closed websocket.CloseError
				if errors.As(err, &closed) && (closed.Code != websocket.StatusPolicyViolation || !strings.Contains(closed.Reason, "too slowly")) {
					t.Errorf("%v, want close 1008", err)
				}
				break
			}
			select {
			case why := <-log:
				if !strings.Contains(why, "code=1008") || !strings.Contains(why, "too slowly") {
					t.Errorf("the client left: %s", why)
				}
			case <-testContext(t).Done():
				t.Fatal("the relay has not ended")
			}
		})
	}
}

// leaving gets the log lines with the reason of a client's end.
type leaving chan string

func (l leaving) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("cdp client left")) {
		l <- string(line)
	}
	return len(line), nil
}

// TestNotUTF8: the error for a message that is not UTF-8 repeats none of it, and
// the connection continues, as with Chromium itself.
func TestNotUTF8(t *testing.T) {
	browser := cdptest.BrowserURL(t)
	_, addr := serve(t, newSource(browser), &cdpproxy.Options{Rule: newRule()})
	for _, addr := range []string{strings.Split(browser, "/")[2], addr} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		br, _ := upgradeOn(t, conn, addr, strings.TrimPrefix(browser, "ws://"+strings.Split(browser, "/")[2]), "", "")
		for _, message := range []string{"{\"id\":\"\xff\",\"method\":\"Runtime.evaluate\"}", "{\"id\":1,\"method\":\"DOM.focus\",\"params\":{\"x\":\"\xff\"}}", "{\"id\":1,\"method\":\"\xc0\x80\"}"} {
			io.WriteString(conn, masked(message))
			if got := readFrame(t, br); !utf8.ValidString(got) || !strings.Contains(got, `"code":-32700`) || strings.Contains(got, `"id"`) {
				t.Errorf("%s: to %q it says %q", addr, message, got)
			}
		}
		io.WriteString(conn, masked(getVersion))
		if got := readFrame(t, br); !strings.Contains(got, "Chrome/") {
			t.Errorf("%s: then %s", addr, got)
		}
	}
}
