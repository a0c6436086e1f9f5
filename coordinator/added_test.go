package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/child"
	"browser-coordinator/internal/toolstest"
)

// addedMain is a small MCP server of its own, over CDP, which the tests add.
func addedMain() {
	server := mcp.NewServer(&mcp.Implementation{Name: "titles", Version: "1"}, nil)
	add := func(name string, do func(context.Context) (string, error)) {
		mcp.AddTool(server, &mcp.Tool{Name: name, Description: name}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			text, err := do(ctx)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
		})
	}
	add("page_title", func(ctx context.Context) (string, error) {
		titles, err := readTitles(ctx, strings.Replace(os.Getenv(child.EnvEndpoint), "http", "ws", 1)+"/devtools/browser/any")
		return strings.Join(titles, ", "), err
	})
	add("die", func(context.Context) (string, error) { os.Exit(3); return "", nil })
	add("browser_click", func(context.Context) (string, error) { return "not ours", nil })
	if file := os.Getenv("ADDED_STARTS"); file != "" {
		if f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(f, os.Getpid())
			f.Close()
		}
	}
	if addr := os.Getenv("ADDED_HELPER"); addr != "" {
		exe, err := os.Executable()
		if err == nil {
			err = (&exec.Cmd{Path: exe, Args: []string{"helper", addr}}).Start()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	hangs := os.Getenv("ADDED_HANGS") != ""
	if hangs {
		signal.Ignore(os.Interrupt, syscall.SIGTERM)
	}
	server.Run(context.Background(), &mcp.StdioTransport{})
	for hangs {
		time.Sleep(time.Hour)
	}
}

// helperMain is a program that an added server starts and does not end. It runs until
// the test closes its connection.
func helperMain() {
	conn, err := net.Dial("tcp", os.Args[1])
	if err == nil {
		io.Copy(io.Discard, conn)
	}
}

// An added server works in the same window, starts when it is needed, and again after its
// death. The programs that it has started end with it, whether it dies or the session
// ends.
func TestAddedServer(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	helper := func() net.Conn {
		t.Helper()
		ln.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute))
		conn, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	ended := func(helper net.Conn) {
		t.Helper()
		helper.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := helper.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the helper lives on")
		}
	}
	browser := toolstest.Browser(t)
	toolstest.Sit(t, browser.URL()).Browse(toolstest.ServeSample(t))
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), browser.URL())
	starts, added := filepath.Join(t.TempDir(), "starts"), named(t, "added")
	started := func() int {
		text, _ := os.ReadFile(starts)
		return strings.Count(string(text), "\n")
	}
	open := func() *toolstest.Agent {
		cmd := command(context.Background(), t, toolstest.Dir, "mcp", "--no-launch", "--", added, child.Placeholder)
		cmd.Dir, cmd.Env = w.Folder, append(cmd.Env, "ADDED_STARTS="+starts, "ADDED_HELPER="+ln.Addr().String())
		return startHost(t, cmd)
	}

	agent := open()
	if names := agent.ToolNames(); !slices.Contains(names, "page_title") || !slices.Contains(names, "browser_snapshot") {
		t.Fatalf("the first list has %q", names)
	}
	agent.Expect("page_title", nil, "Sample")
	agent.Expect("browser_click", args{"target": "button"}, "Clicked") // our own tool with that name
	first := helper()
	agent.Refused("die", nil, "ended during the call")
	ended(first)
	agent.Must("page_title", nil)
	if n := started(); n != 2 {
		t.Errorf("it was started %d times, want one and one after its death", n)
	}
	second := helper()
	if err := agent.Close(); err != nil {
		t.Error(err)
	}
	ended(second)

	// The next session already knows the tools, and starts the server at the first call.
	agent = open()
	if names := agent.ToolNames(); !slices.Contains(names, "page_title") {
		t.Errorf("the next session's list has %q", names)
	}
	if n := started(); n != 2 {
		t.Errorf("listing started it: %d times", n)
	}
	agent.Must("page_title", nil)
	if n := started(); n != 3 {
		t.Errorf("a call started it %d times", n)
	}
}

// If an added server cannot start, the error of its tools names it: the agent does not
// see standard error.
func TestAddedServerIsMissing(t *testing.T) {
	t.Parallel()
	agent := host(t, t.TempDir(), t.TempDir(), "--no-launch", "--", "false")
	agent.ToolNames()
	_, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "page_title"})
	if err == nil || !strings.Contains(err.Error(), "the added server's tools are missing: start false") {
		t.Errorf("a tool of it: %v", err)
	}
}
