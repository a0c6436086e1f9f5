//go:build unix

package vscodeipc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"browser-coordinator/vscodeipc"
	"github.com/google/go-cmp/cmp"
)

// vectorWindow is the window for the invalid vectors.
func vectorWindow(t testing.TB) *vscodeipc.Server {
	folder := home(t)
	return serve(t, vscodeipc.ServerOptions{Workspace: folder, Folders: []string{folder}, NoDeadline: []string{"wait"}, Commands: map[string]vscodeipc.Handler{
		"echo": func(_ context.Context, c vscodeipc.Call) (any, error) { return c.Arg, nil },
		"wait": waitForCancel,
	}})
}

// rawConn sends and reads single lines.
type rawConn struct {
	net.Conn
	t     testing.TB
	lines *bufio.Reader
}

func dialRaw(t testing.TB, a vscodeipc.Address) *rawConn {
	t.Helper()
	conn, err := net.Dial("unix", string(a))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &rawConn{conn, t, bufio.NewReader(conn)}
}

func (c *rawConn) say(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, format+"\n", args...); err != nil {
		c.t.Fatal(err)
	}
}

// hear returns the next line, decoded; nil at the end of the connection.
func (c *rawConn) hear() map[string]any {
	c.t.Helper()
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		if len(line) > 0 {
			c.t.Fatalf("the connection ended in the middle of the line %.80q: %v", line, err)
		}
		return nil
	}
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil {
		c.t.Fatalf("the window sent %.80q: %v", line, err)
	}
	return m
}

func TestInvalidVectors(t *testing.T) {
	s := vectorWindow(t)
	for _, v := range vscodeipc.ReadVectors[vscodeipc.InvalidVector](t, "invalid") {
		t.Run(v.Name, func(t *testing.T) {
			checkInvalid(t, dialRaw(t, s.Address()), v)
		})
	}
}

func checkInvalid(t *testing.T, c *rawConn, v vscodeipc.InvalidVector) {
	input := v.Bytes(t)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		c.Write(input) // may fail: the window may disconnect
	}()
	defer func() { <-sent }()

	answer := c.hear()
	for answer != nil && answer["success"] != false {
		answer = c.hear()
	}
	if answer == nil {
		t.Fatal("the connection ended without an error")
	}
	var wantID any
	if err := json.Unmarshal(v.Expect.ID, &wantID); err != nil {
		t.Fatal(err)
	}
	fault := answer["error"].(map[string]any)
	if fault["code"] != v.Expect.Code || !cmp.Equal(answer["id"], wantID) {
		t.Fatalf("got %v for id %v, want %s for id %v", fault, answer["id"], v.Expect.Code, wantID)
	}
	if fault["message"] == "" {
		t.Error("the error has no text for people")
	}
	data, _ := fault["data"].(map[string]any)
	for name, want := range v.Expect.Data {
		if diff := cmp.Diff(want, data[name]); diff != "" {
			t.Errorf("data.%s: %s", name, diff)
		}
	}
	if v.Expect.Closes {
		goodbye := c.hear()
		if goodbye["type"] != "bye" || goodbye["payload"].(map[string]any)["reason"] != v.Expect.Code {
			t.Errorf("the last line is %v", goodbye)
		}
		if more := c.hear(); more != nil {
			t.Errorf("after bye came %v", more)
		}
		return
	}
	c.say(`{"id":"still-there","type":"ping","version":1}`)
	for {
		m := c.hear()
		if m == nil {
			t.Fatal("the connection ended")
		}
		if m["id"] == "still-there" {
			return
		}
	}
}
