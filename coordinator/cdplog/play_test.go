package cdplog_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/cdplog"
)

// replay plays a recording of the client c1. It returns the player, its address, and its
// log of warnings, which may be read once p is closed.
func replay(t *testing.T, lines ...cdplog.Line) (p *cdplog.Player, addr string, warned *bytes.Buffer) {
	t.Helper()
	p, err := cdplog.Open(record(t, `{}`, `[]`, lines...))
	if err != nil {
		t.Fatal(err)
	}
	warned = new(bytes.Buffer)
	p.Log = slog.New(slog.NewTextHandler(warned, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return p, served(t, p), warned
}

// client is connected to a replay.
type client struct {
	t    *testing.T
	conn *websocket.Conn
}

// join connects a client of that name, until the test ends.
func join(t *testing.T, addr, path, name string) client {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws://"+addr+path, &websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {name}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	return client{t, conn}
}

func (c client) say(command string) {
	c.t.Helper()
	if err := c.conn.Write(c.t.Context(), websocket.MessageText, []byte(command)); err != nil {
		c.t.Fatal(err)
	}
}

// hear expects words in the next message to the client.
func (c client) hear(words string) {
	c.t.Helper()
	if _, text, err := c.conn.Read(c.t.Context()); err != nil || !strings.Contains(string(text), words) {
		c.t.Fatalf("heard %s, %v, want %s", text, err, words)
	}
}

const browser = "/devtools/browser/x"

// TestStrangeCommand: the log has a warning for each method that is not in the recording,
// once: clients may report another error because of it.
func TestStrangeCommand(t *testing.T) {
	p, addr, warned := replay(t, said(`{"id":1,"method":"Page.enable"}`))
	for range 2 { // in each client's part
		c := join(t, addr, browser, "Go-http-client/1.1")
		for _, method := range []string{"DOM.enable", "CSS.enable", "DOM.enable"} {
			c.say(`{"id":1,"method":"` + method + `"}`)
			c.hear("not in the recording: " + method)
		}
	}
	p.Close()
	for _, method := range []string{"DOM.enable", "CSS.enable"} {
		if strings.Count(warned.String(), "level=WARN") != 2 || strings.Count(warned.String(), "method="+method) != 1 {
			t.Errorf("not warned once of %s:\n%s", method, warned)
		}
	}
}

// TestCutRecording: a command whose response was not recorded gets an error.
func TestCutRecording(t *testing.T) {
	p, addr, warned := replay(t, said(`{"id":1,"method":"Runtime.evaluate"}`), said(`{"id":2,"method":"Page.enable"}`), heard(`{"id":2,"result":{}}`))
	c := join(t, addr, browser, "Go-http-client/1.1")
	c.say(`{"id":7,"method":"Runtime.evaluate"}`)
	c.hear(`{"id":7,"error":{"code":-32000,"message":"the recording has no response to this: Runtime.evaluate"}}`)
	c.say(`{"id":8,"method":"Page.enable"}`)
	c.hear(`{"id":8,"result":{}}`)
	p.Close()
	if strings.Count(warned.String(), "level=WARN") != 1 || !strings.Contains(warned.String(), "method=Runtime.evaluate") {
		t.Errorf("not warned once:\n%s", warned)
	}
}

// TestEndOfSession: Chromium answers nothing in a session that has ended, and neither
// does the replay.
func TestEndOfSession(t *testing.T) {
	p, addr, warned := replay(t,
		heard(`{"method":"Target.attachedToTarget","params":{"sessionId":"0123456789ABCDEF0123456789ABCDEF"}}`),
		said(`{"id":1,"method":"Runtime.runIfWaitingForDebugger","sessionId":"0123456789ABCDEF0123456789ABCDEF"}`),
		heard(`{"method":"Target.detachedFromTarget","params":{"sessionId":"0123456789ABCDEF0123456789ABCDEF"}}`),
		said(`{"id":2,"method":"Page.enable"}`), heard(`{"id":2,"result":{}}`))
	c := join(t, addr, browser, "Go-http-client/1.1")
	c.hear("Target.attachedToTarget")
	c.say(`{"id":7,"method":"Runtime.runIfWaitingForDebugger","sessionId":"0123456789ABCDEF0123456789ABCDEF"}`)
	c.hear("Target.detachedFromTarget")
	c.say(`{"id":8,"method":"Page.enable"}`)
	c.hear(`{"id":8,"result":{}}`)
	p.Close()
	if warned.Len() > 0 {
		t.Errorf("warned: %s", warned)
	}
}

// TestOrder: the effects of a command do not precede it, however slow the client is, and
// the browser's messages keep their recorded order.
func TestOrder(t *testing.T) {
	_, addr, _ := replay(t,
		said(`{"id":1,"method":"Page.enable"}`), heard(`{"method":"Page.frameResized"}`), heard(`{"id":1,"result":{}}`),
		said(`{"id":2,"method":"Page.reload"}`), said(`{"id":3,"method":"Page.bringToFront"}`),
		heard(`{"id":3,"result":{}}`), heard(`{"method":"Page.loadEventFired"}`), heard(`{"id":2,"result":{}}`))
	c := join(t, addr, browser, "Go-http-client/1.1")
	c.say(`{"id":1,"method":"Page.enable"}`)
	c.hear("Page.frameResized")
	c.hear(`"id":1`)
	c.say(`{"id":9,"method":"DOM.enable"}`)
	c.hear("not in the recording: DOM.enable") // without messages of the reload before
	c.say(`{"id":3,"method":"Page.bringToFront"}`)
	c.hear(`"id":3`)
	c.hear("Page.loadEventFired")
	c.say(`{"id":2,"method":"Page.reload"}`)
	c.hear(`"id":2`)
}

// TestOtherParameters: a command with other parameters does not get the recorded
// response, and the warning names the recorded parameters. Names that a program generates
// in each run do not count as other parameters.
func TestOtherParameters(t *testing.T) {
	p, addr, warned := replay(t,
		said(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`), heard(`{"id":1,"result":{"result":{"value":2}}}`),
		said(`{"id":2,"method":"Browser.setDownloadBehavior","params":{"downloadPath":"/tmp/artifacts-a1B2c3"}}`), heard(`{"id":2,"result":{}}`))
	c := join(t, addr, browser, "Go-http-client/1.1")
	c.say(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"3+4` + strings.Repeat("+0", 1000) + `"}}`)
	c.hear("not in the recording with these parameters: Runtime.evaluate")
	c.say(`{"id":2,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`)
	c.hear(`"value":2`)
	c.say(`{"id":3,"method":"Browser.setDownloadBehavior","params":{"downloadPath":"/tmp/artifacts-Z9y8X7"}}`)
	c.hear(`"result":{}`)
	p.Close()
	if said := warned.String(); !strings.Contains(said, `recorded="{\"expression\":\"1+1\"}"`) || !strings.Contains(said, `sent="{\"expression\":\"3+4+0`) || !strings.Contains(said, "…") || len(said) > 600 {
		t.Errorf("warned of %s", said)
	}
}

// TestPartsByName: in any order of connection, each client plays the part of a recorded
// client with its name. A client that does not complete the WebSocket handshake takes no
// part.
func TestPartsByName(t *testing.T) {
	const page = "/devtools/page/A"
	joined := func(id, name string) cdplog.Line {
		return cdplog.Line{Time: time.Unix(1, 0).UTC(), Client: id, Joined: &cdplog.Client{Name: name, Version: "1", Path: page}}
	}
	of := func(id string, l cdplog.Line) cdplog.Line {
		l.Client = id
		return l
	}
	const enable = `{"id":1,"method":"Page.enable"}`
	_, addr, _ := replay(t, joined("p", "Playwright"), joined("q", "Puppeteer"),
		of("p", said(enable)), of("p", heard(`{"id":1,"result":{"for":"p"}}`)),
		of("q", said(enable)), of("q", heard(`{"id":1,"result":{"for":"q"}}`)))
	if res, err := http.Get("http://" + addr + page); err != nil || res.StatusCode < 400 {
		t.Errorf("what is no WebSocket: %v, %v", res, err)
	}
	for _, played := range [][2]string{{"Puppeteer/1", "q"}, {"Playwright/1", "p"}, {"Puppeteer/1", "q"}} {
		c := join(t, addr, page, played[0])
		c.say(enable)
		c.hear(`"for":"` + played[1] + `"`)
	}
}
