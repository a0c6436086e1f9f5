package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the page says and shows is marked as the page's, so that a host can treat
// it as untrusted; what the coordinator says is not.
func TestPageTextIsMarked(t *testing.T) {
	const mark = "browser-coordinator/from-page"
	dir, shop := t.TempDir(), folder(t, "shop")
	url := servePage(t)
	agent := host(t, dir, shop)
	// Both kinds of text of an answer.
	call := func(name string, args map[string]any) (ours, pages string, image bool) {
		t.Helper()
		res, err := agent.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil || res.IsError {
			t.Fatalf("%s: %+v %v", name, res, err)
		}
		for _, c := range res.Content {
			switch c := c.(type) {
			case *mcp.TextContent:
				if c.Meta[mark] == true {
					pages += c.Text
				} else {
					ours += c.Text
				}
			case *mcp.ImageContent:
				if image = true; c.Meta[mark] != true {
					t.Errorf("%s: the picture is not marked", name)
				}
			}
		}
		return ours, pages, image
	}
	for _, c := range []struct {
		tool        string
		args        map[string]any
		ours, pages []string
	}{
		{"browser_navigate", map[string]any{"url": url}, []string{"a browser of its own"}, []string{"Sample", url}},
		{"browser_snapshot", nil, nil, []string{"Sample", `textbox "Name"`, `button "Greet"`}},
		{"browser_type", map[string]any{"target": "#name", "text": "Ada"}, []string{"#name"}, nil},
		{"browser_click", map[string]any{"target": "button", "element": "the button"}, []string{"Clicked the button"}, nil},
		{"browser_console_messages", nil, nil, []string{"greeted Ada"}},
		{"browser_network_requests", nil, nil, []string{url}},
		{"browser_evaluate", map[string]any{"function": "() => document.title"}, nil, []string{"Hello Ada"}},
		{"browser_markdown", nil, nil, []string{"Hello Ada"}},
		{"browser_dom", nil, nil, []string{"<button"}},
		{"browser_find", map[string]any{"text": "Greet"}, nil, []string{"Greet"}},
		{"browser_fetch", map[string]any{"url": "/"}, nil, []string{"<title>Sample"}},
		{"browser_snapshot", map[string]any{"diff": true}, nil, nil},
		{"browser_snapshot", map[string]any{"filename": "page.md"}, []string{"Saved"}, nil},
	} {
		ours, pages, _ := call(c.tool, c.args)
		for _, want := range c.ours {
			if !strings.Contains(ours, want) {
				t.Errorf("%s: %q is not among our words %q", c.tool, want, ours)
			}
			if strings.Contains(pages, want) {
				t.Errorf("%s: %q is marked as the page's", c.tool, want)
			}
		}
		for _, want := range c.pages {
			if !strings.Contains(pages, want) {
				t.Errorf("%s: %q is not marked as the page's: %q", c.tool, want, pages)
			}
		}
		for _, word := range []string{"Sample", "Hello Ada", "greeted"} {
			if strings.Contains(ours, word) {
				t.Errorf("%s: the page's word %q stands unmarked: %q", c.tool, word, ours)
			}
		}
	}
	if ours, _, image := call("browser_take_screenshot", nil); !image || ours != "" {
		t.Errorf("a screenshot: %q, an image: %t", ours, image)
	}
	for _, uri := range []string{"browser://screenshot", "browser://console", "browser://network"} {
		read, err := agent.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
		for _, c := range read.Contents {
			if c.Meta[mark] != true {
				t.Errorf("%s is not marked: %+v", uri, c)
			}
		}
	}
}

// What a host hears of the log has no secret in it.
func TestNoSecretInTheLogOfTheHost(t *testing.T) {
	lines := make(chan string, 100)
	dir, shop := t.TempDir(), folder(t, "shop")
	secrets := secretsFile(t, "WORD=watching\n")
	agent := hostWith(t, &mcp.ClientOptions{
		//lint:ignore SA1019 hosts that show a server's log will do so for years
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			said, _ := req.Params.Data.(map[string]any)
			lines <- fmt.Sprint(req.Params.Level, " ", said["msg"])
		},
	}, "2025-06-18", dir, shop, "--no-launch", "--secrets", secrets)
	//lint:ignore SA1019 as above
	if err := agent.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	// A window's browser is watched as soon as it is there, which is an info line.
	start(t, dir, "window", "--workspace", shop, "--headless")
	for heard := ""; heard != "info <secret>WORD</secret> the browser"; {
		select {
		case heard = <-lines:
			if strings.Contains(heard, "watching") {
				t.Fatalf("the log holds a secret: %s", heard)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("the browser is not watched; the last line is %q", heard)
		}
	}
}
