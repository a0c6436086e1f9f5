package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// running is a coordinator command in the foreground of its own process.
type running struct {
	cmd    *exec.Cmd
	first  string // the first line that it printed
	stderr *shown
}

// start runs a command until the test ends, and waits for its first line.
func start(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	r := &running{cmd: command(context.Background(), t, dir, args...), stderr: newShown()}
	r.cmd.Stderr = r.stderr
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop(t) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%v ended before it was ready: %v\n%s", args, err, r.stderr)
	}
	r.first = strings.TrimSpace(line)
	return r
}

// stop interrupts the command as a user does, and requires a clean end.
func (r *running) stop(t *testing.T) {
	t.Helper()
	if r.cmd.ProcessState != nil {
		return
	}
	r.cmd.Process.Signal(os.Interrupt)
	timer := time.AfterFunc(10*time.Second, func() { r.cmd.Process.Kill() })
	defer timer.Stop()
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("%v ended with %v\n%s", r.cmd.Args, err, r.stderr)
	}
}

// host starts the coordinator as an MCP host does.
func host(t *testing.T, dir, workspace string, args ...string) *mcp.ClientSession {
	t.Helper()
	return hostWith(t, nil, "", dir, workspace, args...)
}

// hostWith is a host that speaks that version of the protocol; empty means the newest.
func hostWith(t *testing.T, options *mcp.ClientOptions, protocol, dir, workspace string, args ...string) *mcp.ClientSession {
	t.Helper()
	cmd := command(context.Background(), t, dir, append([]string{"mcp"}, args...)...)
	cmd.Cancel = nil
	cmd.Dir = workspace
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test-host", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the coordinator ended with %v\n%s", err, &stderr)
		}
	})
	return session
}

// tool calls a tool and returns its text. An error of the tool is returned as an error.
func tool(t *testing.T, session *mcp.ClientSession, name string, args map[string]any) (string, error) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var text strings.Builder
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	if res.IsError {
		return "", fmt.Errorf("%s", text.String())
	}
	return text.String(), nil
}

func mustTool(t *testing.T, session *mcp.ClientSession, name string, args map[string]any) string {
	t.Helper()
	text, err := tool(t, session, name, args)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func ref(t *testing.T, snapshot, role, name string) string {
	t.Helper()
	m := regexp.MustCompile(role + ` "` + name + `".*?\[ref=([^\]]+)\]`).FindStringSubmatch(snapshot)
	if m == nil {
		t.Fatalf("no %s %q in\n%s", role, name, snapshot)
	}
	return m[1]
}

// titles uses chromedp to read the titles of an endpoint's pages.
func titles(t *testing.T, endpoint string) []string {
	t.Helper()
	titles, err := askTitles(t.Context(), endpoint)
	if err != nil {
		t.Fatalf("chromedp at %s: %v", endpoint, err)
	}
	return titles
}

func askTitles(ctx context.Context, endpoint string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	ctx, cancelAllocator := remote.NewAllocator(ctx, endpoint)
	defer cancelAllocator()
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	defer cancelBrowser()
	targets, err := chromedp.Targets(ctx)
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, target := range targets {
		if target.Type == "page" {
			titles = append(titles, target.Title)
		}
	}
	return titles, nil
}

func folder(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
