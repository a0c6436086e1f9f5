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
)

// addedMain is a small MCP server of its own, over CDP, which the tests add.
func addedMain() {
	server := mcp.NewServer(&mcp.Implementation{Name: "titles", Version: "1"}, nil)
	type none struct{}
	say := func(format string, args ...any) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil, nil
	}
	mcp.AddTool(server, &mcp.Tool{Name: "page_title", Description: "The title"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
		titles, err := askTitles(ctx, strings.Replace(os.Getenv(child.EnvEndpoint), "http", "ws", 1)+"/devtools/browser/any")
		if err != nil {
			return nil, nil, err
		}
		return say("pid %d: %s", os.Getpid(), strings.Join(titles, ", "))
	})
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return say("hello")
	})
	mcp.AddTool(server, &mcp.Tool{Name: "die"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		os.Exit(3)
		return nil, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "browser_click"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
		return say("not ours")
	})
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

func TestAnAddedServer(t *testing.T) {
	e := openEditor(t, t.TempDir())
	dir := filepath.Dir(os.Getenv("XDG_DATA_HOME"))
	starts := filepath.Join(dir, "starts")
	t.Setenv("ADDED_STARTS", starts)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary goes by its name.
	added := filepath.Join(dir, "added")
	if err := os.Symlink(exe, added); err != nil {
		t.Fatal(err)
	}
	started := func() int {
		text, _ := os.ReadFile(starts)
		return strings.Count(string(text), "\n")
	}
	open := func() *mcp.ClientSession { return host(t, dir, e.folder, "--no-launch", "--", added, "{cdp_endpoint}") }

	session := open()
	names := toolNames(t, session)
	if !slices.Contains(names, "page_title") || !slices.Contains(names, "browser_snapshot") {
		t.Fatalf("the first list has %q", names)
	}
	if text := mustTool(t, session, "page_title", nil); !strings.Contains(text, "Sample") {
		t.Errorf("it works in another browser: %s", text)
	}
	if _, err := tool(t, session, "browser_click", map[string]any{"target": "button"}); err != nil {
		t.Errorf("our own tool with that name: %v", err)
	}
	if _, err := tool(t, session, "die", nil); err == nil || !strings.Contains(err.Error(), "ended during the call") {
		t.Errorf("a server that dies: %v", err)
	}
	mustTool(t, session, "page_title", nil)
	if n := started(); n != 2 {
		t.Errorf("it was started %d times, want one and one after its death", n)
	}

	// The next session already knows the tools, and starts the server at the first call.
	session = open()
	if names := toolNames(t, session); !slices.Contains(names, "page_title") {
		t.Errorf("the next session's list has %q", names)
	}
	if n := started(); n != 2 {
		t.Errorf("listing started it: %d times", n)
	}
	mustTool(t, session, "page_title", nil)
	if n := started(); n != 3 {
		t.Errorf("a call started it %d times", n)
	}
}

// If an added server cannot start, the error of its tools names it: the agent does not
// see standard error.
func TestAddedServerIsMissing(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	session := host(t, dir, shop, "--", filepath.Join(dir, "no-such-server"))
	toolNames(t, session)
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "page_title"})
	if err == nil || !strings.Contains(err.Error(), "no-such-server") || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a tool of it: %v", err)
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

// The programs that an added server has started end with it, whether it dies or the
// session ends.
func TestAnAddedServerEndsWithItsHelpers(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	t.Setenv("ADDED_HELPER", ln.Addr().String())
	dir, shop := t.TempDir(), folder(t, "shop")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	added := filepath.Join(dir, "added") // the test binary goes by its name
	if err := os.Symlink(exe, added); err != nil {
		t.Fatal(err)
	}
	helper := func() net.Conn {
		t.Helper()
		ln.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Second))
		conn, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	ended := func(helper net.Conn) {
		t.Helper()
		helper.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := helper.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the helper lives on")
		}
	}

	session := host(t, dir, shop, "--no-launch", "--", added, "{cdp_endpoint}")
	toolNames(t, session) // starts it
	first := helper()
	if _, err := tool(t, session, "die", nil); err == nil {
		t.Error("it did not die")
	}
	ended(first)

	mustTool(t, session, "greet", nil) // starts it again
	second := helper()
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	ended(second)
}

func toolNames(t *testing.T, session *mcp.ClientSession) []string {
	t.Helper()
	var names []string
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}
