package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/child"
)

// Programs and hosts read more than the text: structured results, resources, prompts.
func TestStructuredAnswersResourcesAndPrompts(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	url := servePage(t)
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--no-launch")
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
	mustTool(t, agent, "browser_type", map[string]any{"target": "#name", "text": "Ada"})
	mustTool(t, agent, "browser_click", map[string]any{"target": "button"})

	res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "browser_tabs", Arguments: map[string]any{"action": "new", "url": url}})
	if err != nil || res.IsError {
		t.Fatalf("%+v %v", res, err)
	}
	var tabs struct {
		Tabs []struct {
			Index          int
			Title, URL     string
			Current, Yours bool
		}
	}
	encoded, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, &tabs); err != nil {
		t.Fatal(err)
	}
	if len(tabs.Tabs) != 2 || tabs.Tabs[1].Title != "Sample" && tabs.Tabs[0].Title != "Sample" {
		t.Errorf("the tabs: %s", encoded)
	}
	for _, tab := range tabs.Tabs {
		if tab.Current != tab.Yours {
			t.Errorf("the tab that it opened is the one that it works in: %s", encoded)
		}
	}
	mustTool(t, agent, "browser_tabs", map[string]any{"action": "close"})

	list, err := agent.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 3 {
		t.Fatalf("%+v %v", list, err)
	}
	for uri, check := range map[string]func(*mcp.ResourceContents) bool{
		"browser://screenshot": func(c *mcp.ResourceContents) bool {
			return c.MIMEType == "image/png" && strings.HasPrefix(string(c.Blob), "\x89PNG")
		},
		"browser://console": func(c *mcp.ResourceContents) bool { return strings.Contains(c.Text, "greeted Ada") },
		"browser://network": func(c *mcp.ResourceContents) bool { return strings.Contains(c.Text, "GET "+url+"/ => 200") },
	} {
		read, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(read.Contents) != 1 || !check(read.Contents[0]) {
			t.Errorf("%s: %+v %v", uri, read, err)
		}
	}
	// The resource of the latest screenshot has the same bytes and type.
	mustTool(t, agent, "browser_take_screenshot", map[string]any{"type": "jpeg"})
	if read, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "browser://screenshot"}); err != nil || read.Contents[0].MIMEType != "image/jpeg" {
		t.Errorf("after a screenshot: %+v %v", read, err)
	}

	for name, argument := range map[string]string{"debug_page": "problem", "review_change": "change"} {
		got, err := agent.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: name, Arguments: map[string]string{argument: "the basket is empty"}})
		if err != nil || len(got.Messages) != 1 || !strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, "the basket is empty") {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

// A host that sends a progress token gets a notification each second of a long call, in
// every version of the protocol. A short call sends none.
func TestProgress(t *testing.T) {
	for _, protocol := range []string{"", "2025-06-18"} {
		var heard atomic.Int32
		agent := hostWith(t, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			if req.Params.ProgressToken == "mine" && strings.Contains(req.Params.Message, "browser_wait_for") {
				heard.Add(1)
			}
		}}, protocol, t.TempDir(), folder(t, "shop"), "--no-launch")
		for seconds, want := range map[float64]int32{0.1: 0, 2.4: 2} {
			heard.Store(0)
			params := &mcp.CallToolParams{Name: "browser_wait_for", Arguments: map[string]any{"time": seconds}}
			params.SetProgressToken("mine")
			if res, err := agent.CallTool(t.Context(), params); err != nil || res.IsError {
				t.Fatalf("%+v %v", res, err)
			}
			if got := heard.Load(); got != want {
				t.Errorf("protocol %q: heard %d times in %v s, want %d", protocol, got, seconds, want)
			}
		}
	}
}

// The host's roots select the window, and select again when they change. This holds for
// every way in which a version of the protocol lets a server request them.
func TestRootsChangeTheWindow(t *testing.T) {
	dir, shop, other := t.TempDir(), folder(t, "shop"), folder(t, "other")
	start(t, dir, "window", "--workspace", shop, "--headless")
	start(t, dir, "window", "--workspace", other, "--headless")
	for _, protocol := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			client := mcp.NewClient(&mcp.Implementation{Name: "test-host", Version: "1"}, nil)
			//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
			client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(shop)})
			cmd := command(context.Background(), t, dir, "mcp", "--no-launch")
			cmd.Cancel, cmd.Dir = nil, t.TempDir()
			agent, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: protocol})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { agent.Close() })
			chosen := func(workspace string) bool {
				return strings.Contains(mustTool(t, agent, "window_list", nil), "* "+canonicalShop(t, workspace)+" ")
			}
			// The first call is a mutating one: it runs once, in the right window.
			count := "() => { window.acts = (window.acts ?? 0) + 1; document.title = 'in the shop' }"
			mustTool(t, agent, "browser_evaluate", map[string]any{"function": count})
			if got := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => window.acts"}); got != "1" {
				t.Errorf("the first act was done %s times", got)
			}
			if !chosen(shop) {
				t.Error("the first root does not decide")
			}
			//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
			client.RemoveRoots("file://" + filepath.ToSlash(shop))
			//lint:ignore SA1019 as above
			client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(other)})
			if !chosen(other) {
				t.Error("the new root does not decide")
			}
			if got := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"}); got != `""` {
				t.Errorf("in the new window the title is %s", got)
			}
			mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => { delete window.acts }", "window": shop})
		})
	}
}

// A host may declare roots and never answer the request for them. After a timeout its
// calls run in the window of the working directory.
func TestRootsThatAreNeverGiven(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := hostWith(t, &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}, "2026-07-28", dir, shop, "--no-launch")
	asked := 0
	for range 20 {
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "window_list"})
		if err != nil {
			t.Fatal(err)
		}
		if !res.NeedsInput() {
			break
		}
		asked++
	}
	if asked == 0 || asked > 16 {
		t.Errorf("it was asked %d times", asked)
	}
	if list := mustTool(t, agent, "window_list", nil); !strings.Contains(list, "* "+canonicalShop(t, shop)+" ") {
		t.Errorf("the working directory does not decide:\n%s", list)
	}
}

// The end of the input ends the programs that the coordinator has started, in time, even
// if a call hangs. It ends nothing else.
func TestEndOfInput(t *testing.T) {
	hang := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, samplePage)
	}))
	t.Cleanup(hang.Close)
	for _, test := range []struct {
		name   string
		window bool
		added  bool // an added server that does not end, even when asked
		call   map[string]any
	}{
		{"idle, a browser of its own", false, false, nil},
		{"an added server hangs at its end", true, true, nil},
		{"an added server hangs, a browser of its own", false, true, nil},
		{"a call hangs, a browser of its own", false, false, map[string]any{"name": "browser_navigate", "arguments": map[string]any{"url": hang.URL + "/hang"}}},
		{"a call hangs in a window's", true, false, map[string]any{"name": "browser_evaluate", "arguments": map[string]any{"function": "() => new Promise(() => {})"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, shop := t.TempDir(), folder(t, "shop")
			var window *running
			if test.window {
				window = start(t, dir, "window", "--workspace", shop, "--headless")
			}
			args := []string{"mcp"}
			if test.added {
				exe, err := os.Executable()
				if err != nil {
					t.Fatal(err)
				}
				added := filepath.Join(dir, "added") // the test binary goes by its name
				if err := os.Symlink(exe, added); err != nil {
					t.Fatal(err)
				}
				t.Setenv("ADDED_HANGS", "yes")
				args = append(args, "--", added, child.Placeholder)
			}
			cmd := command(t.Context(), t, dir, args...)
			cmd.Dir = shop
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
			answers := json.NewDecoder(out)
			send := func(message map[string]any) {
				message["jsonrpc"] = "2.0"
				line, err := json.Marshal(message)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(in, "%s\n", line)
			}
			answer := func(id float64) {
				for {
					var m map[string]any
					if err := answers.Decode(&m); err != nil {
						t.Fatal(err)
					}
					if m["id"] == id {
						return
					}
				}
			}
			send(map[string]any{"id": 1, "method": "initialize", "params": map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "x", "version": "1"}}})
			answer(1)
			send(map[string]any{"method": "notifications/initialized"})
			send(map[string]any{"id": 2, "method": "tools/call", "params": map[string]any{"name": "browser_navigate", "arguments": map[string]any{"url": hang.URL}}})
			answer(2)
			if test.added {
				send(map[string]any{"id": 5, "method": "tools/list"}) // starts it, where its tools are not known yet
				answer(5)
			}
			children, want := childrenOf(t, cmd.Process.Pid), 0
			for _, one := range []bool{!test.window, test.added} {
				if one {
					want++
				}
			}
			if len(children) < want || want == 0 && len(children) > 0 {
				t.Errorf("it has started %v, want %d", children, want)
			}
			if test.call != nil {
				send(map[string]any{"id": 3, "method": "tools/call", "params": test.call})
				send(map[string]any{"id": 4, "method": "ping"})
				answer(4)
			}
			in.Close()
			began := time.Now()
			io.Copy(io.Discard, io.MultiReader(answers.Buffered(), out))
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("it ended after %v", took)
			} else {
				t.Logf("it ended after %v", took)
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

// childrenOf lists the processes that a process has started.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		out, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
		if err != nil {
			return nil
		}
		return atois(string(out))
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, file := range tasks {
		data, err := os.ReadFile(file)
		if err == nil {
			all = append(all, atois(string(data))...)
		}
	}
	return all
}

func atois(s string) []int {
	var all []int
	for _, word := range strings.Fields(s) {
		if n, err := strconv.Atoi(word); err == nil {
			all = append(all, n)
		}
	}
	return all
}
