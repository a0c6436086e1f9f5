package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/vscodeipc"
)

// TestFarewell: a coordinator that is interrupted or terminated sends close code 1001 to
// each of its clients, whatever they are doing. The next coordinator takes over.
func TestFarewell(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) { farewell(t, signal) })
	}
}

func farewell(t *testing.T, signal os.Signal) {
	const each, slow = 5, 2 // clients of each kind, and of the slow ones
	dir, shop := t.TempDir(), folder(t, "shop")
	w := startAskedWindow(t, dir, shop)
	w.choose(t, vscodeipc.AccessAsk)
	serves := start(t, dir, "serve", "--workspace", shop)
	next := start(t, dir, "-v", "serve", "--workspace", shop)
	if next.first != serves.first {
		t.Fatalf("one serves %s, the next %s", serves.first, next.first)
	}

	left := make(chan error, 3*each+slow) // why each client was disconnected, and what it was doing
	goes := make(chan struct{})           // closed when the coordinator is about to end
	reading, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	for range each {
		idle := join(t, serves.first, "idle")
		if _, err := idle.call("Browser.getVersion", `{}`); err != nil {
			t.Fatal(err)
		}
		go readOn(reading, idle, nil, "idle", left)

		waits := join(t, serves.first, "waits")
		waits.say("Target.createTarget", openTab)
		go readOn(reading, waits, nil, "waits for the user", left)
	}
	// The unread data exceeds what the connections buffer, so the coordinator keeps it.
	// Its log shows when it has all of it.
	endLog := listening(t, dir, "--workspace", shop, "--method", "DOM.getOuterHTML")
	// No method that a client may call without a question computes a large result, so
	// the page contains one.
	user := joinPage(t, "http://"+directHost(t, w.browser))
	// Node ids are invalid after the browser has parsed another document.
	const loaded = `{"expression":"new Promise(resolve => document.readyState == 'complete' ? resolve() : addEventListener('load', resolve))","awaitPromise":true}`
	if _, err := user.call("Runtime.evaluate", loaded); err != nil {
		t.Fatal(err)
	}
	for i := range slow {
		if _, err := user.call("Runtime.evaluate", fmt.Sprintf(`{"expression":"document.body.append(Object.assign(document.createElement('behind%d'), { textContent: 'x'.repeat(5e6) }))"}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	var answers []string
	for i := range slow {
		behind := joinPage(t, serves.first)
		answers = append(answers, fmt.Sprintf(`behind%d>x`, i))
		nodeOf := func(method, params string) (id int) {
			var found struct {
				NodeID int
				Root   struct{ NodeID int }
			}
			reply, err := behind.call(method, params)
			if err == nil {
				err = json.Unmarshal([]byte(reply), &found)
			}
			if err != nil {
				t.Fatal(err)
			}
			return found.NodeID + found.Root.NodeID // the page has one such node
		}
		root := nodeOf("DOM.getDocument", `{}`)
		node := nodeOf("DOM.querySelector", fmt.Sprintf(`{"nodeId":%d,"selector":"behind%d"}`, root, i))
		behind.say("DOM.getOuterHTML", fmt.Sprintf(`{"nodeId":%d}`, node))
		go readOn(reading, behind, goes, "behind", left)
	}
	endLog(answers...)
	for range each {
		busy := join(t, serves.first, "busy")
		if _, err := busy.call("Browser.getVersion", `{}`); err != nil {
			t.Fatal(err)
		}
		go keepAsking(reading, busy, left)
	}

	close(goes)
	defer time.AfterFunc(time.Minute, giveUp).Stop()
	if err := serves.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	for range 3*each + slow {
		err := <-left
		var closed websocket.CloseError
		if !errors.As(err, &closed) || closed.Code != websocket.StatusGoingAway || !strings.Contains(closed.Reason, "shutting down") {
			t.Errorf("%v, want close 1001", err)
		}
	}
	if err := serves.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, serves.stderr)
	}
	next.stderr.await(t, "serving the endpoint")
	if got := titles(t, next.first); len(got) != 1 {
		t.Errorf("the next one shows the pages %q", got)
	}
}

// readOn reads until the client is disconnected. It begins when start is closed; nil
// means now.
func readOn(ctx context.Context, c *client, start <-chan struct{}, doing string, left chan<- error) {
	if start != nil {
		<-start
	}
	for {
		if _, _, err := c.Read(ctx); err != nil {
			left <- fmt.Errorf("%s: %w", doing, err)
			return
		}
	}
}

// keepAsking sends requests and reads responses until the client is disconnected.
func keepAsking(ctx context.Context, c *client, left chan<- error) {
	for {
		c.Write(ctx, websocket.MessageText, []byte(`{"id":1,"method":"Target.getTargets"}`)) // the reader gets the error
		if _, _, err := c.Read(ctx); err != nil {
			left <- fmt.Errorf("busy: %w", err)
			return
		}
	}
}

// joinPage connects to the first page, with a small receive buffer.
func joinPage(t *testing.T, endpoint string) *client {
	t.Helper()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return conn, err
	}
	c, _, err := websocket.Dial(t.Context(), firstPage(t, endpoint), &websocket.DialOptions{HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	c.SetReadLimit(64 << 20)
	return &client{Conn: c, t: t}
}

// directHost is the host and port of a browser's own address.
func directHost(t *testing.T, browser string) string {
	t.Helper()
	u, err := url.Parse(browser)
	if err != nil {
		t.Fatal(err)
	}
	base, _, _ := strings.Cut(u.Path, "/devtools/") // contains the secret of a pipe
	return u.Host + base
}
