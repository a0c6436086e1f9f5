//go:build unix

package pipe_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/pipe"
	"browser-coordinator/coordinator/chrome"
)

// soon is the timeout for everything that is fast on an idle machine.
const soon = 60 * time.Second

// browser is a real Chromium that is reached in both ways: by its pipe, through the
// server, and by a debugging port, for comparison.
type browser struct {
	server *pipe.Server
	port   string // browser-level WebSocket URL of the port
	cmd    *exec.Cmd
}

// start does not use chrome.Launch, which gives a browser only one of the two ways.
func start(t testing.TB) *browser {
	t.Helper()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatalf("these tests need a browser: %v", err)
	}
	commands, out, err1 := os.Pipe()
	in, messages, err2 := os.Pipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	args := []string{
		"--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--remote-debugging-pipe", "--remote-debugging-port=0", "--user-data-dir=" + t.TempDir(),
	}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(found.Path, append(args, "about:blank")...)
	cmd.ExtraFiles = []*os.File{commands, messages}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	commands.Close()
	messages.Close()
	server, err := pipe.Serve(in, out, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{server: server, cmd: cmd}
	port := make(chan string, 1)
	var reader sync.WaitGroup
	reader.Go(func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if url, ok := strings.CutPrefix(lines.Text(), "DevTools listening on "); ok {
				port <- url
			}
		}
	})
	t.Cleanup(func() {
		server.Close() // which ends the browser
		ended := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		reader.Wait()
		cmd.Wait()
		ended.Stop()
	})
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if err := server.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case b.port = <-port:
	case <-ctx.Done():
		t.Fatal("the browser has no port")
	}
	return b
}

// ways are the two ways to the browser, by name.
func (b *browser) ways() map[string]string {
	return map[string]string{"port": b.port, "pipe": b.server.URL()}
}

// httpOf returns the HTTP address of a path next to the browser-level WebSocket's.
func httpOf(url, path string) string {
	base, _, _ := strings.Cut(url, "/devtools/")
	return "http" + strings.TrimPrefix(base, "ws") + path
}

func request(t *testing.T, method, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// client is a CDP client that keeps the messages that it receives.
type client struct {
	t      testing.TB
	ws     *websocket.Conn
	lastID int
	events []message
}

type message struct {
	ID      int             `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	text    string
}

func connect(t testing.TB, url string) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	t.Cleanup(func() { ws.CloseNow() })
	return &client{t: t, ws: ws}
}

// raw sends a message unchanged.
func (c *client) raw(text string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), soon)
	defer cancel()
	if err := c.ws.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) read() (message, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), soon)
	defer cancel()
	_, text, err := c.ws.Read(ctx)
	if err != nil {
		return message{}, err
	}
	m := message{text: string(text)}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%w: %.200s", err, text)
	}
	return m, nil
}

func (c *client) next() message {
	c.t.Helper()
	m, err := c.read()
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// send sends a command, in a session unless that is empty, and returns its id.
func (c *client) send(session, method, params string) int {
	c.t.Helper()
	c.lastID++
	in := ""
	if session != "" {
		in = `,"sessionId":"` + session + `"`
	}
	if params == "" {
		params = "{}"
	}
	c.raw(fmt.Sprintf(`{"id":%d,"method":%q,"params":%s%s}`, c.lastID, method, params, in))
	return c.lastID
}

// await returns the response to a command.
func (c *client) await(id int) message {
	c.t.Helper()
	for {
		m := c.next()
		if m.Method == "" && m.ID == id {
			return m
		}
		c.events = append(c.events, m)
	}
}

// call decodes the result of a command into result, unless that is nil.
func (c *client) call(session, method, params string, result any) {
	c.t.Helper()
	m := c.await(c.send(session, method, params))
	if m.Error != nil {
		c.t.Fatalf("%s: %s", method, m.Error)
	}
	if m.Session != session {
		c.t.Fatalf("%s: the response has the session %q, want %q", method, m.Session, session)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			c.t.Fatal(err)
		}
	}
}

// event returns the next event of that name, in that session.
func (c *client) event(session, method string) message {
	c.t.Helper()
	for i, m := range c.events {
		if m.Method == method && m.Session == session {
			c.events = append(c.events[:i], c.events[i+1:]...)
			return m
		}
	}
	for {
		m := c.next()
		if m.Method == method && m.Session == session {
			return m
		}
		c.events = append(c.events, m)
	}
}

// evaluate returns the value of an expression as JSON.
func (c *client) evaluate(session, expression string) string {
	c.t.Helper()
	text, err := json.Marshal(expression)
	if err != nil {
		c.t.Fatal(err)
	}
	var r struct {
		Result struct{ Value json.RawMessage }
	}
	c.call(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":%s,"returnByValue":true,"awaitPromise":true}`, text), &r)
	return string(r.Result.Value)
}

// open creates a page, attaches to it, and returns when it has loaded. A command
// that waits while Chromium replaces the page's first process may never get a
// response.
func (c *client) open(url string) (target, session string) {
	c.t.Helper()
	var created struct{ TargetID string }
	c.call("", "Target.createTarget", fmt.Sprintf(`{"url":%q}`, url), &created)
	session = c.attach(created.TargetID)
	scheme, _, _ := strings.Cut(url, ":") // Chromium rewrites the rest
	eventually(c.t, url+" does not load", func() bool {
		m := c.await(c.send(session, "Runtime.evaluate", `{"expression":"document.readyState + ' ' + location.href"}`))
		return strings.Contains(m.text, `"complete `+scheme)
	})
	return created.TargetID, session
}

func (c *client) attach(target string) (session string) {
	c.t.Helper()
	var attached struct{ SessionID string }
	c.call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, target), &attached)
	return attached.SessionID
}

// leave closes the connection as most clients do.
func (c *client) leave() {
	c.ws.Close(websocket.StatusNormalClosure, "")
}

// ended waits for the end of the connection, and returns its error.
func (c *client) ended() error {
	for {
		if _, err := c.read(); err != nil {
			return err
		}
	}
}

// eventually polls for changes in the browser that have no event.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}
