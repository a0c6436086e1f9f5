//go:build unix

package multiplex_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/internal/cdptest"
)

// TestLargeMessages: large messages pass in both directions, and other clients are
// served meanwhile.
func TestLargeMessages(t *testing.T) {
	b := sharedBrowser(t)
	c, other := cdptest.Dial(t, b.server.URL()), cdptest.Dial(t, b.server.URL())
	_, session := open(t, c, "about:blank")
	size, limit := 50<<20, 99<<20
	if cdptest.RaceDetector {
		size, limit = 2<<20, 4<<20 // each byte takes many times as long
	}
	var r struct{ Result struct{ Value string } }
	c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":"'x'.repeat(%d)","returnByValue":true}`, size), &r)
	if len(r.Result.Value) != size || strings.Trim(r.Result.Value, "x") != "" {
		t.Errorf("%d bytes came, want %d", len(r.Result.Value), size)
	}
	c.Call(session, "Runtime.evaluate", `{"expression":"'`+strings.Repeat("y", size)+`'.length","returnByValue":true}`,
		nil)
	other.Call("", "Browser.getVersion", "", nil)

	// Chromium exits when the pipe brings too much. Only the client may end.
	c.Try("", "Browser.getVersion", `{"x":"`+strings.Repeat("z", limit)+`"}`)
	if cdptest.RaceDetector {
		return
	}
	tooMuch := cdptest.Dial(t, b.server.URL())
	_ = tooMuch.TryWrite(`{"id":1,"method":"Browser.getVersion","params":{"x":"` + strings.Repeat("z", 100<<20) + `"}}`)
	tooMuch.Ended() // by 1009, or by a reset: it was still writing
	other.Call("", "Browser.getVersion", "", nil)
}

// TestCloseWhileStopped: Close does not wait for a browser that does not read.
func TestCloseWhileStopped(t *testing.T) {
	b := start(t)
	c := cdptest.Dial(t, b.server.URL())
	if err := b.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	closed, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		// More than a pipe holds, so that its writer blocks.
		_ = c.TryWrite(`{"id":1,"method":"X","params":{"x":"` + strings.Repeat("x", 4<<20) + `"}}`)
		c.Ended()
	}()
	go func() {
		defer close(closed)
		b.server.Close()
	}()
	select {
	case <-closed:
	case <-time.After(cdptest.Timeout):
		t.Error("Close waits for a browser that is stopped")
	}
	b.cmd.Process.Kill()
	<-over
}

// silent is a client that ignores what it gets.
type silent struct{}

func (silent) Name() string       { return "silent" }
func (silent) Send([]byte)        {}
func (silent) End(uint16, string) {}

// TestLeaveWhileStopped: a client can leave, and a caller can give up, while the browser
// reads nothing.
func TestLeaveWhileStopped(t *testing.T) {
	b := start(t)
	conn, err := b.server.Open(t.Context(), "", silent{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		for range 4 { // more than a pipe holds
			conn.Send(browser.Message{ID: []byte("1"), Method: "X",
				Params: []byte(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)})
		}
	}()
	conn.Close()
	if !over(returned) {
		t.Error("Send waits for a browser that is stopped")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	questions := make(chan struct{})
	go func() {
		defer close(questions)
		if err := b.server.Ready(ctx); err == nil {
			t.Error("a browser that is stopped has responded")
		}
	}()
	if !over(questions) {
		t.Error("a call waits for a browser that is stopped")
	}
	b.cmd.Process.Kill()
	<-returned
	<-questions
}

func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-time.After(cdptest.Timeout):
		return false
	}
}
