package cdplog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/cdplog"
)

// said is a line of the client c1.
func said(message string) cdplog.Line {
	l := cdplog.Line{Time: time.Unix(1, 0).UTC(), Client: "c1", From: "client"}
	l.SetMessage([]byte(message))
	return l
}

// record is a recording of the client c1.
func record(t *testing.T, version, targets string, lines ...cdplog.Line) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	for _, l := range append([]cdplog.Line{
		cdplog.Head(json.RawMessage(version), json.RawMessage(targets)),
		{Time: time.Unix(1, 0).UTC(), Client: "c1", Joined: &cdplog.Client{Name: "Go program", Path: "/devtools/browser/x"}},
	}, lines...) {
		if err := to.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.NewReader(out.Bytes())
}

// served plays a recording until the test ends, at the HOST:PORT that it returns.
func served(t *testing.T, p *cdplog.Player) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ln) }()
	t.Cleanup(func() {
		p.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// document is what is answered to a path, as JSON.
func document(t *testing.T, url string, into any) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/json; charset=UTF-8" {
		t.Fatalf("%s: %s, %v, %v", url, res.Status, res.Header, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v: %.200s", url, err, text)
	}
}

// TestProtocol: clients that ask for the protocol before they connect are told it.
func TestProtocol(t *testing.T) {
	p, err := cdplog.Open(record(t, `{}`, `[]`, said(`{"id":1,"method":"Page.enable"}`)))
	if err != nil {
		t.Fatal(err)
	}
	var protocol struct{ Domains []struct{ Domain string } }
	document(t, "http://"+served(t, p)+"/json/protocol", &protocol)
	names := map[string]bool{}
	for _, d := range protocol.Domains {
		names[d.Domain] = true
	}
	if !names["Page"] || !names["Runtime"] || !names["Target"] {
		t.Errorf("the domains are %v", names)
	}
}

// TestOwnAddress: a replay leads to itself alone, also in the links to the DevTools
// front end, and leaves anybody's text as it is.
func TestOwnAddress(t *testing.T) {
	const (
		there = "127.0.0.1:20999"
		title = "ws://127.0.0.1:1/ and ws://" + there + "/devtools/page/A"
	)
	type target struct {
		Title, URL, WebSocketDebuggerURL, DevtoolsFrontendURL string
	}
	p, err := cdplog.Open(record(t,
		`{"Browser":"`+title+`","webSocketDebuggerUrl":"ws://`+there+`/devtools/browser/x"}`,
		`[{"title":"`+title+`","url":"data:,`+title+`","webSocketDebuggerUrl":"ws://`+there+`/devtools/page/A",
		   "devtoolsFrontendUrl":"https://front.example/inspector.html?ws=`+there+`/devtools/page/A"}]`,
		said(`{"id":1,"method":"Page.enable"}`)))
	if err != nil {
		t.Fatal(err)
	}
	here := served(t, p)
	var version struct{ Browser, WebSocketDebuggerURL string }
	document(t, "http://"+here+"/json/version", &version)
	if version.Browser != title || version.WebSocketDebuggerURL != "ws://"+here+"/devtools/browser/x" {
		t.Errorf("the version is %q", version)
	}
	want := target{title, "data:," + title, "ws://" + here + "/devtools/page/A", "https://front.example/inspector.html?ws=" + here + "/devtools/page/A"}
	for _, path := range []string{"/json", "/json/list", "/json/list/"} {
		var targets []target
		document(t, "http://"+here+path, &targets)
		if len(targets) != 1 || targets[0] != want {
			t.Errorf("%s is %q, want %q", path, targets, want)
		}
	}
}

// TestStrangeCommand: who serves a recording is warned of what is not in it, once
// for each method: clients may tell something else of it.
func TestStrangeCommand(t *testing.T) {
	p, err := cdplog.Open(record(t, `{}`, `[]`, said(`{"id":1,"method":"Page.enable"}`)))
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	p.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
	here := served(t, p)
	for range 2 { // of each client's part
		c, _, err := websocket.Dial(t.Context(), "ws://"+here+"/devtools/browser/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseNow()
		for _, method := range []string{"DOM.enable", "CSS.enable", "DOM.enable"} {
			if err := c.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"method":"`+method+`"}`)); err != nil {
				t.Fatal(err)
			}
			if _, answer, err := c.Read(t.Context()); err != nil || !strings.Contains(string(answer), "not in the recording: "+method) {
				t.Fatalf("%s, %v", answer, err)
			}
		}
	}
	p.Close()
	for _, method := range []string{"DOM.enable", "CSS.enable"} {
		if n := strings.Count(logged.String(), "level=WARN"); n != 2 || strings.Count(logged.String(), "method="+method) != 1 {
			t.Errorf("not warned once of %s:\n%s", method, &logged)
		}
	}
}

// TestCutRecording: a client that waits for what the recording does not have is told
// so, when nothing else is to come.
func TestCutRecording(t *testing.T) {
	p, err := cdplog.Open(record(t, `{}`, `[]`,
		said(`{"id":1,"method":"Runtime.evaluate"}`),
		said(`{"id":2,"method":"Page.enable"}`),
		cdplog.Line{Time: time.Unix(1, 0).UTC(), Client: "c1", From: "browser", Message: json.RawMessage(`{"id":2,"result":{}}`)}))
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	p.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c, _, err := websocket.Dial(t.Context(), "ws://"+served(t, p)+"/devtools/browser/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	for _, text := range []string{`{"id":7,"method":"Runtime.evaluate"}`, `{"id":8,"method":"Page.enable"}`} {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`{"id":8,"result":{}}`, `{"id":7,"error":{"code":-32000,"message":"the recording has no answer to this: Runtime.evaluate"}}`} {
		if _, text, err := c.Read(t.Context()); err != nil || string(text) != want {
			t.Fatalf("heard %s, %v, want %s", text, err, want)
		}
	}
	p.Close()
	if strings.Count(logged.String(), "level=WARN") != 1 || !strings.Contains(logged.String(), "method=Runtime.evaluate") {
		t.Errorf("not warned once:\n%s", &logged)
	}
}

// heardBy is a line of what the client c1 heard.
func heardBy(message string) cdplog.Line {
	return cdplog.Line{Time: time.Unix(1, 0).UTC(), Client: "c1", From: "browser", Message: json.RawMessage(message)}
}

// TestPauses: a client may take longer than when it was recorded, where nothing that
// it waits for is missing. What its command causes does not come before the command.
func TestPauses(t *testing.T) {
	p, err := cdplog.Open(record(t, `{}`, `[]`,
		said(`{"id":1,"method":"Page.enable"}`), heardBy(`{"id":1,"result":{}}`),
		said(`{"id":2,"method":"Page.reload"}`), heardBy(`{"method":"Page.loadEventFired"}`), heardBy(`{"id":2,"result":{}}`)))
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := websocket.Dial(t.Context(), "ws://"+served(t, p)+"/devtools/browser/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	var got []string
	done := make(chan error, 1)
	said := make(chan struct{}, 2)
	go func() {
		for range 3 {
			_, text, err := c.Read(t.Context())
			if err != nil {
				done <- err
				return
			}
			select {
			case <-said:
			default:
				if len(got) > 0 {
					t.Errorf("%s came before the command that causes it", text)
				}
			}
			got = append(got, string(text))
		}
		done <- nil
	}()
	if err := c.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"method":"Page.enable"}`)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(700 * time.Millisecond) // it thinks
	said <- struct{}{}
	said <- struct{}{}
	if err := c.Write(t.Context(), websocket.MessageText, []byte(`{"id":2,"method":"Page.reload"}`)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || len(got) != 3 || !strings.Contains(got[1], "loadEventFired") {
		t.Errorf("heard %q, %v", got, err)
	}
}

// TestOtherParameters: nobody is given the answer to another question; names that a
// program makes anew at each run make none another.
func TestOtherParameters(t *testing.T) {
	p, err := cdplog.Open(record(t, `{}`, `[]`,
		said(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`), heardBy(`{"id":1,"result":{"result":{"value":2}}}`),
		said(`{"id":2,"method":"Browser.setDownloadBehavior","params":{"downloadPath":"/tmp/artifacts-a1B2c3"}}`), heardBy(`{"id":2,"result":{}}`)))
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := websocket.Dial(t.Context(), "ws://"+served(t, p)+"/devtools/browser/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	for _, step := range [][2]string{
		{`{"id":1,"method":"Runtime.evaluate","params":{"expression":"3+4"}}`, "not in the recording with these parameters: Runtime.evaluate"},
		{`{"id":2,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`, `"value":2`},
		{`{"id":3,"method":"Browser.setDownloadBehavior","params":{"downloadPath":"/tmp/artifacts-Z9y8X7"}}`, `"result":{}`},
	} {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(step[0])); err != nil {
			t.Fatal(err)
		}
		if _, text, err := c.Read(t.Context()); err != nil || !strings.Contains(string(text), step[1]) {
			t.Errorf("%s is answered with %s, %v", step[0], text, err)
		}
	}
}

// TestPartsByName: whoever comes first, each plays what a client of its name did, and
// who does not get as far as a WebSocket takes nobody's part.
func TestPartsByName(t *testing.T) {
	joined := func(id, name string) cdplog.Line {
		return cdplog.Line{Time: time.Unix(1, 0).UTC(), Client: id, Joined: &cdplog.Client{Name: name, Version: "1", Path: "/devtools/page/A"}}
	}
	says := func(id string) cdplog.Line {
		l := said(`{"id":1,"method":"Page.enable"}`)
		l.Client = id
		return l
	}
	hears := func(id string) cdplog.Line {
		l := heardBy(`{"id":1,"result":{"for":"` + id + `"}}`)
		l.Client = id
		return l
	}
	p, err := cdplog.Open(record(t, `{}`, `[]`,
		joined("p", "Playwright"), joined("q", "Puppeteer"), says("p"), hears("p"), says("q"), hears("q")))
	if err != nil {
		t.Fatal(err)
	}
	here := served(t, p)
	if res, err := http.Get("http://" + here + "/devtools/page/A"); err != nil || res.StatusCode < 400 {
		t.Errorf("what is no WebSocket: %v, %v", res, err)
	}
	for _, client := range [][2]string{{"Puppeteer/1", "q"}, {"Playwright/1", "p"}, {"Puppeteer/1", "q"}} {
		c, _, err := websocket.Dial(t.Context(), "ws://"+here+"/devtools/page/A", &websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {client[0]}}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseNow()
		if err := c.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"method":"Page.enable"}`)); err != nil {
			t.Fatal(err)
		}
		if _, text, err := c.Read(t.Context()); err != nil || !strings.Contains(string(text), `"for":"`+client[1]+`"`) {
			t.Errorf("%s hears %s, %v", client[0], text, err)
		}
	}
}

// TestTorn: a recording that ends in the middle of a line is served to there; what is
// no recording is told as such.
func TestTorn(t *testing.T) {
	whole, err := io.ReadAll(record(t, `{}`, `[]`, said(`{"id":1,"method":"Page.enable"}`), said(`{"id":2,"method":"DOM.enable"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cdplog.Open(bytes.NewReader(whole[:len(whole)-20])); err != nil {
		t.Errorf("torn: %v", err)
	}
	if err := cdplog.Read(bytes.NewReader(whole[:len(whole)-20]), func(cdplog.Line) error { return nil }); !errors.Is(err, cdplog.ErrTorn) {
		t.Errorf("torn, read: %v", err)
	}
	middle := bytes.Replace(whole, []byte(`"id":1`), []byte(`"id":`), 1)
	if _, err := cdplog.Open(bytes.NewReader(middle)); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("broken in the middle: %v", err)
	}
	for _, text := range []string{"", "\n", "hello", "{}", "\n{}\n", "\n{\"format\":\"cdp-log\",\"version\":2}\n"} {
		if _, err := cdplog.Open(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "this is no recording") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
