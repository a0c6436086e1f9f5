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

// join connects a client of that name, until the test ends.
func join(t *testing.T, addr, path, name string) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws://"+addr+path, &websocket.DialOptions{HTTPHeader: http.Header{"User-Agent": {name}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	return conn
}

// converse sends what begins with >, and expects the rest, which begins with <, in the
// next messages.
func converse(t *testing.T, conn *websocket.Conn, script ...string) {
	t.Helper()
	for _, line := range script {
		if command, ok := strings.CutPrefix(line, "> "); ok {
			if err := conn.Write(t.Context(), websocket.MessageText, []byte(command)); err != nil {
				t.Fatal(err)
			}
		} else if _, text, err := conn.Read(t.Context()); err != nil || !strings.Contains(string(text), strings.TrimPrefix(line, "< ")) {
			t.Fatalf("received %s, %v, want %s", text, err, line)
		}
	}
}

const (
	browser = "/devtools/browser/x"
	session = `"sessionId":"0123456789ABCDEF0123456789ABCDEF"`
)

// TestReplay: what a client sends is matched with the recording, and gets the browser's
// messages in their recorded order.
func TestReplay(t *testing.T) {
	for name, c := range map[string]struct {
		recorded, script []string
		warnings         int
		warned           []string // in the log
	}{
		// The log has a warning for each method that is not in the recording, once:
		// clients may report another error because of it.
		"a command that is not recorded": {
			[]string{`> {"id":1,"method":"Page.enable"}`},
			[]string{
				`> {"id":1,"method":"DOM.enable"}`, `< not in the recording: DOM.enable`, `> {"id":1,"method":"CSS.enable"}`, `< not in the recording: CSS.enable`,
				`> {"id":1,"method":"DOM.enable"}`, `< not in the recording: DOM.enable`,
			},
			2, []string{"method=DOM.enable", "method=CSS.enable"},
		},
		"a command whose response is not recorded": {
			[]string{`> {"id":1,"method":"Runtime.evaluate"}`, `> {"id":2,"method":"Page.enable"}`, `< {"id":2,"result":{}}`},
			[]string{
				`> {"id":7,"method":"Runtime.evaluate"}`, `< {"id":7,"error":{"code":-32000,"message":"the recording has no response to this: Runtime.evaluate"}}`,
				`> {"id":8,"method":"Page.enable"}`, `< {"id":8,"result":{}}`,
			},
			1, []string{"method=Runtime.evaluate"},
		},
		// Chromium answers nothing in a session that has ended, and neither does the replay.
		"the end of a session": {
			[]string{
				`< {"method":"Target.attachedToTarget","params":{` + session + `}}`, `> {"id":1,"method":"Runtime.runIfWaitingForDebugger",` + session + `}`,
				`< {"method":"Target.detachedFromTarget","params":{` + session + `}}`, `> {"id":2,"method":"Page.enable"}`, `< {"id":2,"result":{}}`,
			},
			[]string{
				`< Target.attachedToTarget`, `> {"id":7,"method":"Runtime.runIfWaitingForDebugger",` + session + `}`, `< Target.detachedFromTarget`,
				`> {"id":8,"method":"Page.enable"}`, `< {"id":8,"result":{}}`,
			},
			0, nil,
		},
		// The effects of a command do not precede it, however slow the client is.
		"order": {
			[]string{
				`> {"id":1,"method":"Page.enable"}`, `< {"method":"Page.frameResized"}`, `< {"id":1,"result":{}}`,
				`> {"id":2,"method":"Page.reload"}`, `> {"id":3,"method":"Page.bringToFront"}`,
				`< {"id":3,"result":{}}`, `< {"method":"Page.loadEventFired"}`, `< {"id":2,"result":{}}`,
			},
			[]string{
				`> {"id":1,"method":"Page.enable"}`, `< Page.frameResized`, `< "id":1`,
				`> {"id":9,"method":"DOM.enable"}`, `< not in the recording: DOM.enable`, // without messages of the reload before
				`> {"id":3,"method":"Page.bringToFront"}`, `< "id":3`, `< Page.loadEventFired`, `> {"id":2,"method":"Page.reload"}`, `< "id":2`,
			},
			1, nil,
		},
		// Names that a program generates in each run do not count as other parameters.
		"other parameters": {
			[]string{
				`> {"id":1,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`, `< {"id":1,"result":{"result":{"value":2}}}`,
				`> {"id":2,"method":"Browser.setDownloadBehavior","params":{"downloadPath":"/tmp/artifacts-a1B2c3"}}`, `< {"id":2,"result":{}}`,
			},
			[]string{
				`> {"id":1,"method":"Runtime.evaluate","params":{"expression":"3+4` + strings.Repeat("+0", 1000) + `"}}`, `< not in the recording with these parameters: Runtime.evaluate`,
				`> {"id":2,"method":"Runtime.evaluate","params":{"expression":"1+1"}}`, `< "value":2`,
				`> {"id":3,"method":"Browser.setDownloadBehavior","params":{"downloadPath":"/tmp/artifacts-Z9y8X7"}}`, `< "result":{}`,
			},
			1, []string{`recorded="{\"expression\":\"1+1\"}"`, `sent="{\"expression\":\"3+4+0`, "…"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []cdplog.Line
			for _, line := range c.recorded {
				if command, ok := strings.CutPrefix(line, "> "); ok {
					lines = append(lines, sent(command))
				} else {
					lines = append(lines, received(strings.TrimPrefix(line, "< ")))
				}
			}
			p, addr, warned := replay(t, lines...)
			for range 2 { // each client has a part of its own; it is warned once
				converse(t, join(t, addr, browser, "Go-http-client/1.1"), c.script...)
			}
			p.Close()
			log := warned.String()
			if strings.Count(log, "level=WARN") != c.warnings || len(log) > 600 {
				t.Errorf("%d warnings are wanted:\n%s", c.warnings, log)
			}
			for _, part := range c.warned {
				if strings.Count(log, part) != 1 {
					t.Errorf("not warned once of %s:\n%s", part, log)
				}
			}
		})
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
		of("p", sent(enable)), of("p", received(`{"id":1,"result":{"for":"p"}}`)),
		of("q", sent(enable)), of("q", received(`{"id":1,"result":{"for":"q"}}`)))
	if res, err := http.Get("http://" + addr + page); err != nil || res.StatusCode < 400 {
		t.Errorf("what is no WebSocket: %v, %v", res, err)
	}
	for _, played := range [][2]string{{"Puppeteer/1", "q"}, {"Playwright/1", "p"}, {"Puppeteer/1", "q"}} {
		converse(t, join(t, addr, page, played[0]), "> "+enable, `< "for":"`+played[1]+`"`)
	}
}
