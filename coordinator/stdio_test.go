package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/internal/toolstest"
)

// rawHost is a host that sends lines.
type rawHost struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.Reader
	*json.Decoder
}

func startRaw(t *testing.T, cmd *exec.Cmd) *rawHost {
	t.Helper()
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
	return &rawHost{t, cmd, in, out, json.NewDecoder(out)}
}

type response struct {
	ID     any
	Method string
	Error  struct{ Code int }
	Result json.RawMessage
}

// send sends a line, and returns its response.
func (h *rawHost) send(format string, a ...any) (r response) {
	h.t.Helper()
	if _, err := fmt.Fprintf(h.in, format+"\n", a...); err != nil {
		h.t.Fatal(err)
	}
	for r.Error.Code == 0 && r.Result == nil { // a notification may come first
		if err := h.Decode(&r); err != nil {
			h.t.Fatalf("after %.60s: %v", format, err)
		}
	}
	return r
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` +
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping        = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
)

// A malformed line gets a response, and the session continues.
func TestMalformedInput(t *testing.T) {
	t.Parallel()
	cmd := command(context.Background(), t, t.TempDir(), "mcp", "--no-launch")
	cmd.Dir = t.TempDir()
	h := startRaw(t, cmd)
	if r := h.send("Hello?"); r.Error.Code != -32700 || r.ID != nil {
		t.Errorf("before the session: %+v", r)
	}
	if r := h.send(initialize); r.Result == nil {
		t.Fatalf("initialize: %+v", r)
	}
	io.WriteString(h.in, initialized+"\r\n\n")
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
		if r := h.send("%s", line); r.Error.Code != code {
			t.Errorf("%.60s: %+v, want %d", line, r, code)
		}
		if r := h.send(ping); r.Result == nil {
			t.Errorf("a ping after %.60s: %+v", line, r)
		}
	}
	h.in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A call that the host cancels gets no response.
func TestCancelledCallIsNotAnswered(t *testing.T) {
	t.Parallel()
	cmd := command(t.Context(), t, t.TempDir(), "mcp")
	cmd.Dir = t.TempDir()
	h := startRaw(t, cmd)
	h.send(initialize)
	io.WriteString(h.in, initialized+"\n")
	for _, id := range []string{"3", `"three"`} {
		fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":%s,"method":"tools/call",`+
			`"params":{"name":"browser_wait_for","arguments":{"time":30}}}`+"\n", id)
		if r := h.send(ping); r.ID != 2.0 {
			t.Errorf("the response to a ping: %+v", r)
		}
		fmt.Fprintf(h.in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`+"\n", id)
	}
	// A call waits for those before it in its page, so their responses would come first.
	if r := h.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call",` +
		`"params":{"name":"browser_navigate","arguments":{"url":"about:blank"}}}`); r.ID != 4.0 {
		t.Errorf("the response to a call after those that were cancelled: %+v", r)
	}
	h.in.Close()
	rest, _ := io.ReadAll(io.MultiReader(h.Buffered(), h.out))
	if strings.Contains(string(rest), "three") || strings.Contains(string(rest), `"id":3`) {
		t.Errorf("at the end: %s", rest)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// The end of the input ends the programs that the coordinator has started, in time, even
// if a call hangs. It ends nothing else.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, toolstest.SamplePage)
	})
	for _, test := range []struct {
		name   string
		window bool
		call   string // hangs
	}{
		{"a call hangs in a window's", true,
			`{"name":"browser_evaluate","arguments":{"function":"() => new Promise(() => {})"}}`},
		{"a call hangs, an own browser", false,
			`{"name":"browser_navigate","arguments":{"url":"` + url + `/hang"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, shop := t.TempDir(), toolstest.Folder(t, "shop")
			var window *running
			want := 0
			if test.window {
				window = openWindow(t, dir, shop)
			} else {
				want++
			}
			cmd := command(t.Context(), t, dir, "mcp")
			cmd.Dir = shop
			h := startRaw(t, cmd)
			h.send(initialize)
			io.WriteString(h.in, initialized+"\n")
			h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_navigate","arguments":{"url":%q}}}`,
				url)
			children := childrenOf(t, cmd.Process.Pid)
			if len(children) < want {
				t.Errorf("it has started %v, want %d", children, want)
			}
			fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":%s}`+"\n", test.call)
			h.send(ping)
			h.in.Close()
			startTime := time.Now()
			io.Copy(io.Discard, io.MultiReader(h.Buffered(), h.out))
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			t.Logf("it ended after %v", time.Since(startTime))
			// 3 s are specified, and a busy machine may need more. By itself the call ends after 10 s.
			if took := time.Since(startTime); took > 9*time.Second {
				t.Errorf("it ended after %v", took)
			}
			for _, pid := range children {
				if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
					t.Errorf("process %d, which it started, is still there", pid)
				}
			}
			if window != nil {
				if got := titles(t, window.first); len(got) != 1 || got[0] != "Sample" {
					t.Errorf("the window's pages are %q now", got)
				}
			}
		})
	}
}

// The tabs that an agent has opened end with its program, however the host ends that.
func TestTabsEndWithTheProgram(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), toolstest.Folder(t, "shop")
	window := openWindow(t, dir, shop)
	before := titles(t, window.first)
	for name, end := range map[string]func(h *rawHost) error{
		"end of input": func(h *rawHost) error { return h.in.Close() },
		"SIGTERM":      func(h *rawHost) error { return h.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		cmd := command(t.Context(), t, dir, "mcp")
		cmd.Dir = shop
		h := startRaw(t, cmd)
		h.send(initialize)
		io.WriteString(h.in, initialized+"\n")
		h.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_tabs",` +
			`"arguments":{"action":"new","url":"data:text/html,<title>Mine</title>"}}}`)
		if got := titles(t, window.first); len(got) != len(before)+1 {
			t.Errorf("%s: the window's pages are %q", name, got)
		}
		if err := end(h); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, io.MultiReader(h.Buffered(), h.out))
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := titles(t, window.first); len(got) != len(before) {
			t.Errorf("%s: the window's pages are %q now, want %q", name, got, before)
		}
	}
}

// childrenOf lists the processes that a process has started.
func childrenOf(t *testing.T, pid int) (all []int) {
	t.Helper()
	var text []byte
	if _, err := os.Stat("/proc/self/task"); err != nil {
		text, _ = exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output() // fails if there is none
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tasks {
		data, _ := os.ReadFile(file) // a thread may have ended
		text = append(text, data...)
	}
	for _, word := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(word); err == nil {
			all = append(all, n)
		}
	}
	return all
}
