// Package cdptest has a CDP client for tests, and a browser that the tests of a package
// share.
package cdptest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/internal/notify"
)

// Timeout is for everything that is fast on an idle machine.
const Timeout = time.Minute

// Client is a CDP client that keeps the messages that it receives.
type Client struct {
	t      testing.TB
	ws     *websocket.Conn
	done   chan struct{}
	nextID int

	mu       sync.Mutex // guards the fields that follow
	messages []Message
	changed  notify.Broadcast
	err      error
}

// Message is a response or an event.
type Message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	SessionID string
	Text      string `json:"-"`
}

// Decode reads the parameters of an event.
func (m Message) Decode(t testing.TB, params any) {
	t.Helper()
	if err := json.Unmarshal(m.Params, params); err != nil {
		t.Fatal(err)
	}
}

// Dial connects a client until the test ends.
func Dial(t testing.TB, url string) *Client {
	t.Helper()
	return DialAs(t, url, "")
}

// DialAs is Dial for a client whose User-Agent is not Go's.
func DialAs(t testing.TB, url, agent string) *Client {
	t.Helper()
	header := http.Header{}
	if agent != "" {
		header.Set("User-Agent", agent)
	}
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	c := &Client{t: t, ws: ws, done: make(chan struct{})}
	go c.read()
	t.Cleanup(c.Leave)
	return c
}

// Leave ends the connection without a close frame, like a killed client.
func (c *Client) Leave() {
	c.ws.CloseNow()
	<-c.done
}

// Ended waits for the end of the connection, and returns its error.
func (c *Client) Ended() error {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(Timeout):
		c.t.Fatal("the connection does not end")
	}
	return c.err
}

func (c *Client) read() {
	defer close(c.done)
	for {
		_, text, err := c.ws.Read(context.Background())
		m := Message{Text: string(text)}
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		c.mu.Lock()
		if err != nil {
			c.err = err
		} else {
			c.messages = append(c.messages, m)
		}
		c.changed.Notify()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Messages are those that have come so far.
func (c *Client) Messages() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.messages)
}

// Await returns the first message that fits.
func (c *Client) Await(description string, fits func(Message) bool) Message {
	c.t.Helper()
	return c.AwaitN(description, 1, fits)
}

// AwaitN returns the nth message that fits.
func (c *Client) AwaitN(description string, n int, fits func(Message) bool) Message {
	c.t.Helper()
	timeout := time.After(Timeout)
	for next := 0; ; {
		c.mu.Lock()
		come, err, changed := c.messages[next:], c.err, c.changed.Next()
		c.mu.Unlock()
		for _, m := range come {
			next++
			if fits(m) {
				if n--; n == 0 {
					return m
				}
			}
		}
		if err != nil {
			c.t.Fatalf("%s: %v", description, err)
		}
		select {
		case <-changed:
		case <-timeout:
			c.t.Fatalf("%s: did not come, but %v", description, c.Methods())
		}
	}
}

// Methods are the names of the events so far.
func (c *Client) Methods() (names []string) {
	for _, m := range c.Messages() {
		if m.Method != "" {
			names = append(names, m.Method)
		}
	}
	return names
}

// Write sends a message unchanged.
func (c *Client) Write(text string) {
	c.t.Helper()
	if err := c.TryWrite(text); err != nil {
		c.t.Fatal(err)
	}
}

// TryWrite is Write for a connection that may end meanwhile.
func (c *Client) TryWrite(text string) error {
	return c.ws.Write(c.t.Context(), websocket.MessageText, []byte(text))
}

// Start sends a command, in a session unless that is empty, and returns its id.
func (c *Client) Start(session, method, params string) int {
	c.t.Helper()
	c.nextID++
	if params == "" {
		params = "{}"
	}
	if session != "" {
		session = fmt.Sprintf(`,"sessionId":%q`, session)
	}
	c.Write(fmt.Sprintf(`{"id":%d,"method":%q,"params":%s%s}`, c.nextID, method, params, session))
	return c.nextID
}

// Answer waits for the response to a command.
func (c *Client) Answer(id int) Message {
	c.t.Helper()
	return c.Await(fmt.Sprintf("the response %d", id), func(m Message) bool { return m.Method == "" && m.ID == id })
}

// Try returns a command's response or error.
func (c *Client) Try(session, method, params string) Message {
	c.t.Helper()
	return c.Answer(c.Start(session, method, params))
}

// Call reads a command's result into result, unless that is nil.
func (c *Client) Call(session, method, params string, result any) {
	c.t.Helper()
	m := c.Try(session, method, params)
	if m.Error != nil {
		c.t.Fatalf("%s: %d %s", method, m.Error.Code, m.Error.Message)
	}
	if m.SessionID != session {
		c.t.Fatalf("%s was sent to session %q, and the response has %q", method, session, m.SessionID)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			c.t.Fatal(err)
		}
	}
}

// isEvent matches the events of a session that contain a text.
func isEvent(session, method, part string) func(Message) bool {
	return func(m Message) bool {
		return m.SessionID == session && m.Method == method && strings.Contains(string(m.Params), part)
	}
}

// Event waits for an event of a session, with a text in its parameters.
func (c *Client) Event(session, method, part string) Message {
	c.t.Helper()
	return c.EventN(session, method, part, 1)
}

// EventN waits for the nth of these events.
func (c *Client) EventN(session, method, part string, n int) Message {
	c.t.Helper()
	return c.AwaitN(method+" with "+part, n, isEvent(session, method, part))
}

// Count counts these events so far.
func (c *Client) Count(session, method, part string) (n int) {
	for _, m := range c.Messages() {
		if isEvent(session, method, part)(m) {
			n++
		}
	}
	return n
}

// Attach returns a session with a target.
func (c *Client) Attach(target string) string {
	c.t.Helper()
	var r struct{ SessionID string }
	c.Call("", "Target.attachToTarget", fmt.Sprintf(`{"targetId":%q,"flatten":true}`, target), &r)
	return r.SessionID
}

// Evaluate returns the value of an expression.
func (c *Client) Evaluate(session, expression string) string {
	c.t.Helper()
	text, _ := json.Marshal(expression)
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	c.Call(session, "Runtime.evaluate", fmt.Sprintf(`{"expression":%s,"returnByValue":true,"awaitPromise":true}`, text),
		&r)
	if r.ExceptionDetails != nil {
		c.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// Request returns the status and the body of the response to an HTTP request.
func Request(t testing.TB, method, url string) (int, string) {
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
