//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// callTimeout is the timeout of a call on a busy machine: longer than every timeout of
// the coordinator's own.
const callTimeout = 90 * time.Second

// client drives one page of its own through a window's endpoint, by CDP.
type client struct {
	name   string
	window *window
	site   *site
	result *result
	random *rand.Rand
	count  int // of pages and questions
}

// run connects and asks, and connects again when the connection ends, until ctx ends.
func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := c.connected(ctx); err != nil && ctx.Err() == nil {
			c.result.add("CDP connections that ended")
			select {
			case <-time.After(time.Duration(c.random.Int64N(int64(500 * time.Millisecond)))): // as real clients do
			case <-ctx.Done():
			}
		}
	}
}

// asked is a command that waits for its response.
type asked struct {
	method, id string // id: of a question to the page
	acts       bool
	sent       time.Time
	done       func(json.RawMessage) // nil means a question
}

// connected runs one connection. One goroutine reads, and sends the next command after
// each response.
func (c *client) connected(ctx context.Context) error {
	dialing, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	url, err := browserURL(dialing, c.window.address())
	if err == nil {
		var conn *websocket.Conn
		if conn, _, err = websocket.Dial(dialing, url, nil); err == nil {
			defer conn.CloseNow()
			conn.SetReadLimit(-1)
			return c.talk(ctx, conn)
		}
	}
	if errors.Is(dialing.Err(), context.DeadlineExceeded) {
		c.result.fault("hung", "%s cannot connect: %v", c.name, err)
	}
	return err
}

func browserURL(ctx context.Context, endpoint string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"/json/version", nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %.200s", res.Status, text)
	}
	return version.URL, json.Unmarshal(text, &version)
}

// talk asks until the connection or ctx ends.
func (c *client) talk(ctx context.Context, conn *websocket.Conn) error {
	c.count++
	// Commands in flight get their responses, even at the end of the run.
	calling := context.WithoutCancel(ctx)
	mark := fmt.Sprintf("%s-%s-%d", c.window.name, c.name, c.count)
	open := map[int]*asked{}
	count := 0 // the ids up to it were sent
	session := ""
	send := func(a *asked, params any) error {
		count++
		message := map[string]any{"id": count, "method": a.method, "params": params}
		if session != "" {
			message["sessionId"] = session
		}
		text, err := json.Marshal(message)
		if err != nil {
			return err
		}
		a.sent = time.Now()
		open[count] = a
		if a.acts {
			c.result.action(a.id, unknown)
		}
		c.result.add("CDP calls")
		writing, cancel := context.WithTimeout(calling, callTimeout)
		defer cancel()
		return conn.Write(writing, websocket.MessageText, text)
	}
	ask := func() error {
		if ctx.Err() != nil {
			return nil
		}
		c.count++
		a := &asked{method: "Runtime.evaluate", id: fmt.Sprintf("%s-%d", c.name, c.count), acts: c.random.IntN(2) == 0}
		code := fmt.Sprintf("({mark, id: %q})", a.id)
		if a.acts {
			code = fmt.Sprintf("act(%q)", a.id)
		}
		if c.random.IntN(50) == 0 { // occasionally a large one
			code += fmt.Sprintf("/* %*s */", 1<<20, "")
		}
		return send(a, map[string]any{"expression": code, "returnByValue": true})
	}
	create := &asked{method: "Target.createTarget"}
	create.done = func(result json.RawMessage) {
		var created struct {
			TargetID string `json:"targetId"`
		}
		json.Unmarshal(result, &created)
		attach := &asked{method: "Target.attachToTarget"}
		attach.done = func(result json.RawMessage) {
			var attached struct {
				SessionID string `json:"sessionId"`
			}
			json.Unmarshal(result, &attached)
			session = attached.SessionID
			ready := &asked{method: "Runtime.evaluate"}
			ready.done = func(json.RawMessage) { // several at a time
				for range 3 {
					ask()
				}
			}
			const isLoaded = "document.readyState == 'complete' && location.href != 'about:blank'"
			send(ready, map[string]any{
				"expression":   "new Promise(loaded => " + isLoaded + " ? loaded() : addEventListener('load', loaded))",
				"awaitPromise": true,
			})
		}
		send(attach, map[string]any{"targetId": created.TargetID, "flatten": true})
	}
	if err := send(create, map[string]any{"url": c.site.page(mark)}); err != nil {
		return err
	}
	for len(open) > 0 {
		reading, cancel := context.WithTimeout(calling, callTimeout)
		_, text, err := conn.Read(reading)
		late := errors.Is(reading.Err(), context.DeadlineExceeded)
		cancel()
		if late {
			c.result.fault("hung", "%s: %d calls have no response, the connection goes on", c.name, len(open))
		}
		if err != nil {
			return err
		}
		var m struct {
			ID     int             `json:"id"`
			Method string          `json:"method"`
			Error  json.RawMessage `json:"error"`
			Result json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(text, &m); err != nil {
			c.result.fault("wrong", "%s gets what is no JSON: %.200q", c.name, text)
			continue
		}
		if m.Method != "" {
			continue
		}
		a := open[m.ID]
		delete(open, m.ID)
		switch {
		case a == nil && m.ID > 0 && m.ID <= count:
			c.result.fault("doubled", "%s: a second response to %d: %.200s", c.name, m.ID, text)
		case a == nil:
			c.result.fault("wrong", "%s never asked this: %.200s", c.name, text)
		case m.Error != nil:
			return fmt.Errorf("%s: %s", a.method, m.Error) // for example: the page has gone
		case a.done != nil:
			a.done(m.Result)
		default:
			var evaluated struct {
				Result           struct{ Value json.RawMessage }
				ExceptionDetails json.RawMessage
			}
			if json.Unmarshal(m.Result, &evaluated); evaluated.ExceptionDetails != nil {
				return fmt.Errorf("%s", evaluated.ExceptionDetails)
			}
			c.result.check(c.name, mark, a.id, evaluated.Result.Value, a.acts)
			if a.acts {
				c.result.action(a.id, done)
			}
			if c.random.IntN(200) == 0 {
				return nil // disconnect, and connect again
			}
			if err := ask(); err != nil {
				return err
			}
		}
		for _, a := range open {
			if time.Since(a.sent) > callTimeout {
				c.result.fault("lost", "%s: %s %s has no response, later ones have", c.name, a.method, a.id)
				return errors.New("a response is lost")
			}
		}
	}
	return nil
}
