package cdpproxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/discovery"
)

// value is a browser in this process. It has the page "1", and returns each message.
type value struct {
	joined chan browser.Client
	left   chan string // the pages of clients that have left
}

func newValue() *value { return &value{make(chan browser.Client, 8), make(chan string, 8)} }

func (v *value) Product(context.Context) (discovery.Product, error) {
	return discovery.Product{Name: "Value/1", Revision: "@r"}, nil
}

func (v *value) Targets(context.Context) ([]discovery.Target, error) {
	return []discovery.Target{{ID: "1", Type: "page"}}, nil
}

func (v *value) OpenPage(_ context.Context, address string) (discovery.Target, error) {
	if address == "about:blank#bad" {
		return discovery.Target{}, errors.New("it opens no page")
	}
	return discovery.Target{ID: "2", URL: address}, nil
}

func (v *value) Act(_ context.Context, _, target string) error {
	if target != "1" {
		return browser.ErrNoTarget
	}
	return nil
}

func (v *value) Open(_ context.Context, page string, to browser.Client) (browser.Conn, error) {
	if page != "" && page != "1" {
		return nil, browser.ErrNoTarget
	}
	to.Send([]byte(`"welcome, ` + to.Name() + `"`)) // before the client has its response
	v.joined <- to
	return &valueConn{v, page, to}, nil
}

type valueConn struct {
	value *value
	page  string
	to    browser.Client
}

func (c *valueConn) Send(m browser.Message) bool {
	c.to.Send(m.Text)
	return m.Method != "Test.unsent"
}
func (c *valueConn) Close() { c.value.left <- c.page }

// inProcessSource is a source of v, whose first browser is v's.
func inProcessSource(v *value) *source {
	src := newSource("")
	src.set("value", "ws://127.0.0.1:1/devtools/browser/G")
	src.browser.InProcess = v
	return src
}

// TestInProcessDiscovery: a browser in this process is presented as Chromium's DevTools
// server presents a browser.
func TestInProcessDiscovery(t *testing.T) {
	_, addr := serve(t, inProcessSource(newValue()), nil)
	for _, c := range []struct {
		path   string
		status int
		body   string
	}{
		{"/json/version", 200, `"webSocketDebuggerUrl": "ws://` + addr + `/devtools/browser/G"`},
		{"/json/version", 200, `"Browser": "Value/1"`},
		{"/json", 200, `"webSocketDebuggerUrl": "ws://` + addr + `/devtools/page/1"`},
		{"/json/list/", 200, `serve_rev/@r/inspector.html?ws=` + addr + `/devtools/page/1`},
		{"/json/protocol", 200, `"domains"`},
		{"/json/activate/1", 200, "Target activated"},
		{"/json/activate/1/", 200, "Target activated"},
		{"/json/close/1", 200, "Target is closing"},
		{"/json/close/2", 404, "No such target id: 2"},
		{"/json/nothing", 404, "Unknown command: nothing"},
	} {
		if status, body := get(t, addr, c.path, nil); status != c.status || !strings.Contains(body, c.body) {
			t.Errorf("%s: HTTP %d %.200s, want %d %s", c.path, status, body, c.status, c.body)
		}
	}
	for _, c := range []struct{ method, address, want string }{
		{http.MethodPut, "http://a.test/?x&y", `"url": "http://a.test/?x"`},
		{http.MethodPut, "about:blank%23bad", "it opens no page"},
		{http.MethodGet, "", "a page is opened with PUT"},
	} {
		a := ask(t, addr, c.method+" /json/new?"+c.address+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if !strings.Contains(a.body, c.want) {
			t.Errorf("%s /json/new?%s: HTTP %d %s", c.method, c.address, a.status, a.body)
		}
	}
	_, res, err := websocket.Dial(testContext(t), "ws://"+addr+"/devtools/page/7", nil)
	if err == nil || res == nil || !strings.Contains(res.Status, "No such target id: 7") {
		t.Errorf("no such page: %v %v", res, err)
	}
}

// TestInProcessMessages: messages pass both ways, each whole and in order; pings are answered;
// taps get both directions; both ends of a connection are reported.
func TestInProcessMessages(t *testing.T) {
	v := newValue()
	p, addr := serve(t, inProcessSource(v), nil)
	tap := p.Tap()
	defer tap.Close()
	c := dialWith(t, "ws://"+addr+"/devtools/page/1",
		&websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {"Tester/1"}}})
	if _, got, err := c.Read(testContext(t)); string(got) != `"welcome, Tester"` {
		t.Fatalf("%s %v", got, err)
	}
	sizes := []int{60, 200, 70_000, 2 << 20}
	go func() {
		for id, size := range sizes {
			c.Write(testContext(t), websocket.MessageText, []byte(command(id, "A.b", size)))
		}
		c.Ping(context.Background()) // returns with the connection, or when it is answered
	}()
	for id, size := range sizes {
		if _, got, err := c.Read(testContext(t)); err != nil || string(got) != command(id, "A.b", size) {
			t.Fatalf("message %d: %d bytes %.60s, %v", id, len(got), got, err)
		}
	}
	var recorded int
	for recorded < 2*len(sizes)+1 {
		<-tap.Ready()
		messages, missing := tap.Take()
		if recorded += len(messages); missing > 0 {
			t.Fatal("the tap has lost messages")
		}
	}
	// coder/websocket reads pongs in Read.
	read := make(chan error, 1)
	go func() { _, _, err := c.Read(context.Background()); read <- err }()
	if err := c.Ping(testContext(t)); err != nil {
		t.Error(err)
	}
	(<-v.joined).End(1008, "stopped by the value")
	if err := <-read; !closes(err, websocket.StatusPolicyViolation, "stopped by the value") {
		t.Errorf("the client gets %v", err)
	}
	if page := <-v.left; page != "1" {
		t.Errorf("%q has left", page)
	}

	c = dial(t, addr, "/devtools/browser/old")
	(<-v.joined).End(0, "")
	if _, got, err := c.Read(testContext(t)); err != nil {
		t.Errorf("%s %v, want the welcome", got, err)
	}
	if _, _, err := c.Read(testContext(t)); !closes(err, websocket.StatusGoingAway, "closed this connection") {
		t.Errorf("the client gets %v", err)
	}
	<-v.left

	c = dial(t, addr, "/devtools/browser/x")
	<-v.joined
	if err := c.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Errorf("close: %v", err)
	}
	<-v.left
}

// sentRule reports the commands that were sent to the browser.
type sentRule struct {
	passAll
	sent chan string
}

func (r sentRule) Observe(_ *cdpproxy.Client, m *browser.Message) { r.sent <- m.Method }

// TestUnsentCommand: a command that the browser's connection dropped is not reported as sent.
func TestUnsentCommand(t *testing.T) {
	rule := sentRule{sent: make(chan string, 2)}
	_, addr := serve(t, inProcessSource(newValue()), &cdpproxy.Options{Rule: rule})
	c := dial(t, addr, "/devtools/browser/x")
	for _, method := range []string{"Test.unsent", "Test.sent"} {
		send(t, c, `{"id":1,"method":"`+method+`"}`)
	}
	if got := <-rule.sent; got != "Test.sent" {
		t.Errorf("%s is reported as sent", got)
	}
}

// TestInProcessSlowReader: what a client does not read is kept up to the bound. Then it is
// disconnected behind whole messages, and Send never blocks.
func TestInProcessSlowReader(t *testing.T) {
	v := newValue()
	watched := newJoined(passAll{})
	_, addr := serveLimited(t, inProcessSource(v), &cdpproxy.Options{Rule: watched},
		cdpproxy.Limits{Buffered: 8 << 20, CloseTimeout: time.Minute}) // to read 8 MiB on a busy machine
	conn, br := smallUpgrade(t, addr)
	client, to := <-watched.came, <-v.joined
	for count := 0; ; count++ {
		to.Send(fmt.Appendf(nil, `{"method":"A.b","params":{"n":%d,"x":"%s"}}`, count, strings.Repeat("x", 100_000)))
		select {
		case <-client.Done:
		default:
			continue
		}
		break
	}
	if got := readFrame(t, br); got != `"welcome, CDP client"` {
		t.Errorf("first %.100s", got)
	}
	n := 0
	for ; ; n++ {
		got := readFrame(t, br)
		if strings.HasPrefix(got, "\x03\xf0") && strings.Contains(got, "too slowly") {
			break
		}
		var m struct{ Params struct{ N int } }
		if err := json.Unmarshal([]byte(got), &m); err != nil || m.Params.N != n {
			t.Fatalf("message %d: %.60s, %v", n, got, err)
		}
	}
	if n < 80 {
		t.Errorf("%d messages, less than the bound", n)
	}
	if _, err := io.ReadAll(br); err != nil {
		t.Error(err)
	}
	conn.Close()
	<-v.left
}

// TestInProcessWithoutMemory: a message for a client that reads needs memory too, unless it is
// small. The reason names what is used up.
func TestInProcessWithoutMemory(t *testing.T) {
	v := newValue()
	_, addr := serveLimited(t, inProcessSource(v), nil, cdpproxy.Limits{Memory: 1 << 20})
	c := dial(t, addr, "/devtools/browser/x")
	to := <-v.joined
	for _, size := range []int{1000, 200 << 10, 900 << 10, 2 << 20} {
		to.Send([]byte(strings.Repeat("x", size)))
		for got := []byte(nil); len(got) != size; { // the first is the welcome
			var err error
			if _, got, err = c.Read(testContext(t)); err != nil {
				if size < 1<<20 || !closes(err, websocket.StatusTryAgainLater, "1 MB for messages are used up") {
					t.Errorf("%d bytes: %v", size, err)
				}
				return
			}
		}
	}
	t.Error("a message that is larger than the memory has come")
}

// TestPongsNotRead: pongs that a client does not read count what they take in memory.
func TestPongsNotRead(t *testing.T) {
	watcher := newJoined(passAll{})
	_, addr := serveLimited(t, inProcessSource(newValue()), &cdpproxy.Options{Rule: watcher},
		cdpproxy.Limits{Buffered: 64 << 10})
	conn, _ := smallUpgrade(t, addr)
	client := <-watcher.came
	pings := strings.Repeat(clientFrame(0x89, ""), 20_000)
	go func() { // the system keeps some pongs, too
		for {
			if _, err := io.WriteString(conn, pings); err != nil {
				return // the connection has ended
			}
		}
	}()
	select {
	case <-client.Done:
	case <-testContext(t).Done():
		t.Fatal("the client is still connected")
	}
}
