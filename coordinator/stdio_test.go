package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// A malformed line gets a response, and the session continues.
func TestMalformedInput(t *testing.T) {
	cmd := command(context.Background(), t, t.TempDir(), "mcp", "--no-launch")
	cmd.Dir = folder(t, "shop")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	answers := bufio.NewReader(out)
	ask := func(line string) (answer struct {
		ID     any
		Error  struct{ Code int }
		Result json.RawMessage
	}) {
		t.Helper()
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
		text, err := answers.ReadBytes('\n')
		if err != nil {
			t.Fatalf("after %.60s: %v", line, err)
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	if a := ask("Hello?"); a.Error.Code != -32700 || a.ID != nil {
		t.Errorf("before the session: %+v", a)
	}
	if a := ask(initialize); a.Result == nil {
		t.Fatalf("initialize: %+v", a)
	}
	io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\r\n\n")
	for line, code := range map[string]int{
		"{":        -32700,
		`{} {}`:    -32700,
		"\x00\xff": -32700,
		"[]":       -32600,
		`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`: -32600,
		`{"what":1}`:                            -32600,
		"7":                                     -32600,
		`"` + strings.Repeat("x", 17<<20) + `"`: -32600,
	} {
		if a := ask(line); a.Error.Code != code {
			t.Errorf("%.60s: %+v, want %d", line, a, code)
		}
		if a := ask(`{"jsonrpc":"2.0","id":2,"method":"ping"}`); a.Result == nil {
			t.Errorf("a ping after %.60s: %+v", line, a)
		}
	}
}
