package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/tools/secrets"
	"browser-coordinator/internal/toolstest"
)

// watching starts an agent whose host receives the server's log.
func watching(t *testing.T, dir string, hidden *secrets.Set) (agent *toolstest.Agent, lines <-chan string) {
	t.Helper()
	log := make(chan string, 100)
	agent = toolstest.StartWith(t, options{Dir: dir, Secrets: hidden}, &mcp.ClientOptions{
		//lint:ignore SA1019 hosts that show a server's log will do so for years
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			data, _ := req.Params.Data.(map[string]any)
			log <- fmt.Sprint(req.Params.Level, " ", data["msg"])
		},
	}, "2025-06-18")
	//lint:ignore SA1019 as above
	if err := agent.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	return agent, log
}

// awaitLine waits for a line that contains the text, and returns the lines until then.
func awaitLine(t *testing.T, lines <-chan string, text string) (all string) {
	t.Helper()
	for limit := time.After(30 * time.Second); !strings.Contains(all, text); {
		select {
		case line := <-lines:
			all += line + "\n"
		case <-limit:
			t.Fatalf("no line %q in %q", text, all)
		}
	}
	return all
}

// The log that a host receives contains no secret.
func TestNoSecretInTheLogOfTheHost(t *testing.T) {
	t.Parallel()
	shop := toolstest.Folder(t, "shop")
	_, lines := watching(t, shop, loadSecrets(t, "WORD=watching\n"))
	toolstest.OpenWindowAt(t, shop, toolstest.Browser(t).URL())
	if log := awaitLine(t, lines, "info <secret>WORD</secret> the browser"); strings.Contains(log, "watching") {
		t.Errorf("the log holds a secret: %s", log)
	}
}

// Programs and hosts read more than the text: structured results, resources, prompts.
func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	url, agent := toolstest.ServeSample(t), toolstest.OpenWindow(t).Agent()
	read := func(uri string) *mcp.ResourceContents {
		t.Helper()
		read, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(read.Contents) != 1 {
			t.Fatalf("%s: %+v %v", uri, read, err)
		}
		if read.Contents[0].Meta[fromPage] != true {
			t.Errorf("%s is not marked", uri)
		}
		return read.Contents[0]
	}
	// An empty resource has a text that reports this: without text it would be invalid.
	agent.Must("browser_snapshot", nil)
	for uri, want := range map[string]string{"browser://console": "The console is empty.",
		"browser://network": "No request was made."} {
		if got := read(uri).Text; got != want {
			t.Errorf("%s: %s", uri, got)
		}
	}
	agent.Open(url)
	agent.Must("browser_type", args{"target": "#name", "text": "Ada"})
	agent.Must("browser_click", args{"target": "button"})
	list, err := agent.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 3 {
		t.Fatalf("%+v %v", list, err)
	}
	if got := read("browser://screenshot"); got.MIMEType != "image/png" ||
		!strings.HasPrefix(string(got.Blob), "\x89PNG") {
		t.Errorf("the picture is %s, %.10q", got.MIMEType, got.Blob)
	}
	for uri, want := range map[string]string{"browser://console": "greeted Ada", "browser://network": "GET " + url +
		"/ => 200"} {
		if got := read(uri).Text; !strings.Contains(got, want) {
			t.Errorf("%s: %s", uri, got)
		}
	}
	// The resource of the latest screenshot has the same bytes and type.
	agent.Must("browser_take_screenshot", args{"type": "jpeg"})
	if got := read("browser://screenshot"); got.MIMEType != "image/jpeg" {
		t.Errorf("after a screenshot: %s", got.MIMEType)
	}
	for name, argument := range map[string]string{"debug_page": "problem", "review_change": "change"} {
		got, err := agent.GetPrompt(t.Context(),
			&mcp.GetPromptParams{Name: name, Arguments: map[string]string{argument: "the basket is empty"}})
		if err != nil || len(got.Messages) != 1 ||
			!strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, "the basket is empty") {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}

// A host that sends a progress token gets a notification each second of a long call, in
// every version of the protocol. A short call sends none.
func TestProgress(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"", "2025-06-18"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			var received atomic.Int32
			agent := toolstest.StartWith(t, options{Dir: t.TempDir()},
				&mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
					req *mcp.ProgressNotificationClientRequest) {
					if req.Params.ProgressToken == "mine" && strings.Contains(req.Params.Message, "browser_wait_for") {
						received.Add(1)
					}
				}}, protocol)
			for seconds, want := range map[float64]int32{0.1: 0, 2.4: 2} {
				received.Store(0)
				params := &mcp.CallToolParams{Name: "browser_wait_for", Arguments: args{"time": seconds}}
				params.SetProgressToken("mine")
				if res, err := agent.CallTool(t.Context(), params); err != nil || res.IsError {
					t.Fatalf("%+v %v", res, err)
				}
				if got := received.Load(); got != want {
					t.Errorf("%d notifications in %v s, want %d", got, seconds, want)
				}
			}
		})
	}
}

// The host's roots select the window, and select again when they change. This holds for
// every way in which a version of the protocol lets a server request them.
func TestRootsChangeTheWindow(t *testing.T) {
	t.Parallel()
	shop, other := toolstest.OpenWindow(t),
		toolstest.OpenWindowAt(t, toolstest.Folder(t, "other"), toolstest.Browser(t).URL())
	for _, protocol := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			agent, client := toolstest.StartClient(t, options{Dir: t.TempDir()}, nil, protocol,
				func(client *mcp.Client) {
					//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
					client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(shop.Folder)})
				})
			// The first call is a mutating one: it runs once, in the right window.
			agent.Evaluate("() => { window.acts = (window.acts ?? 0) + 1; document.title = 'in the shop' }")
			agent.ExpectValue("() => window.acts", "1")
			agent.Expect("window_list", nil, "* "+shop.Folder+" ")
			//lint:ignore SA1019 hosts that announce their folders by roots will do so for years
			client.RemoveRoots("file://" + filepath.ToSlash(shop.Folder))
			//lint:ignore SA1019 as above
			client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(other.Folder)})
			agent.Expect("window_list", nil, "* "+other.Folder+" ")
			agent.Refused("browser_evaluate", args{"function": "() => document.title = 'lost'"},
				"another browser than that of your last answer", "the window "+other.Folder+" fits now", "Nothing was done")
			agent.ExpectValue("() => document.title", `""`)
			agent.Must("browser_evaluate", args{"function": "() => { delete window.acts }", "window": shop.Folder})
		})
	}
}

// A host may declare roots and never answer the request for them. After a timeout its
// calls run in the window of the working directory.
func TestRootsThatAreNeverGiven(t *testing.T) {
	t.Parallel()
	w := toolstest.OpenWindowAt(t, toolstest.Folder(t, "shop"), "")
	agent := toolstest.StartWith(t, options{Dir: w.Folder},
		&mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}, "2026-07-28")
	questions := 0
	for range 20 {
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: "window_list"})
		if err != nil {
			t.Fatal(err)
		}
		if !res.NeedsInput() {
			break
		}
		questions++
	}
	if questions == 0 || questions > 16 {
		t.Errorf("it was asked %d times", questions)
	}
	agent.Expect("window_list", nil, "* "+w.Folder+" ")
}

// structured is the structured part of a result, as JSON.
func structured(t *testing.T, agent *toolstest.Agent, name string, a args) string {
	t.Helper()
	res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: a})
	if err != nil || res.IsError || res.StructuredContent == nil {
		t.Fatalf("%s: %+v %v", name, res, err)
	}
	encoded, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return unescape.Replace(string(encoded))
}

// unescape undoes the escapes of Go's JSON.
var unescape = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
