package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// outsidePages lays out a workspace whose pages link to files outside of it. It returns
// the path of a page outside.
func outsidePages(t *testing.T, shop string) (outside string) {
	t.Helper()
	outside = filepath.Join(t.TempDir(), "outside.html")
	address := "file://" + outside
	for file, text := range map[string]string{
		outside:                           "<title>Outside</title>precious",
		filepath.Join(shop, "plain.html"): "<title>Plain</title>plain",
		filepath.Join(shop, "leads.html"): `<title>Leads</title><a id=link href="` + address + `">link</a> <a id=tab target=_blank href="` + address + `">tab</a> <a id=near href=plain.html>near</a>
<button id=go onclick="location.href = '` + address + `'">go</button> <button id=framed onclick="document.querySelector('iframe').src = '` + address + `'">frame</button><iframe src="plain.html"></iframe>`,
		filepath.Join(shop, "holds.html"): `<title>Holds</title><iframe src="` + address + `"></iframe><object data="` + address + `"></object><script src="` + address + `"></script>`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return outside
}

// An address that the browser reads as a file's has the limits of a file, in every
// spelling.
func TestFileAddressForms(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	outside := outsidePages(t, shop)
	agent := host(t, dir, shop)
	for _, address := range []string{
		"VIEW-SOURCE:file://" + outside, "view-source: file://" + outside, "view-source:fi\tle://" + outside, "view-source:view-source:file://" + outside,
		"fi\nle://" + outside, "\x01file://" + outside, "file:" + outside, "file:\\\\" + outside, "file://" + shop + "/x\\..\\..\\" + filepath.Base(filepath.Dir(outside)) + "\\outside.html",
		"javascript:location = 'file://" + outside + "'",
	} {
		for name, args := range map[string]map[string]any{"browser_navigate": {"url": address}, "browser_tabs": {"action": "new", "url": address}} {
			text, err := tool(t, agent, name, args)
			seen, _ := tool(t, agent, "browser_snapshot", nil)
			if strings.Contains(text+seen, "precious") || strings.Contains(text+seen, "Outside") {
				t.Errorf("%s %q: %s %v\n%s", name, address, text, err, seen)
			}
		}
	}
	for _, name := range []string{"browser_navigate", "browser_fetch"} {
		if _, err := tool(t, agent, name, map[string]any{"url": "View-Source:\tFILE://" + outside}); err == nil || !strings.Contains(err.Error(), "out of bounds") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An address that makes the browser end, crash or hang is not opened.
func TestAddressesThatEnd(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": "data:text/html,<title>Here</title>here"})
	for _, address := range []string{"chrome://crash", "CHROME:kill", " view-source:chrome://quit/", "about:hang", "chrome://inducebrowsercrashforrealz"} {
		for name, args := range map[string]map[string]any{"browser_navigate": {"url": address}, "browser_tabs": {"action": "new", "url": address}} {
			if text, err := tool(t, agent, name, args); err == nil || !strings.Contains(err.Error(), "only its user opens it") {
				t.Errorf("%s %q: %s, %v", name, address, text, err)
			}
		}
	}
	if seen := mustTool(t, agent, "browser_snapshot", nil); !strings.Contains(seen, "here") {
		t.Errorf("the tab shows something else: %s", seen)
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": "chrome://version"})
}

// A page of the workspace leads an agent to no file outside of it, in its main frame or
// in a subframe. Its network log shows no such file.
func TestFilePagesStayInBounds(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	outside := outsidePages(t, shop)
	agent := host(t, dir, shop)
	see := func(what string) string {
		t.Helper()
		seen := mustTool(t, agent, "browser_snapshot", nil)
		if strings.Contains(seen, "precious") {
			t.Errorf("%s: %s", what, seen)
		}
		return seen
	}
	leads := "file://" + shop + "/leads.html"
	for _, target := range []string{"#link", "#go"} {
		mustTool(t, agent, "browser_navigate", map[string]any{"url": leads})
		if text := mustTool(t, agent, "browser_click", map[string]any{"target": target}); !strings.Contains(text, "A navigation was refused: "+outside+" is out of bounds") {
			t.Errorf("%s: %s", target, text)
		}
		if seen := see(target); !strings.Contains(seen, "Leads") {
			t.Errorf("after %s: %s", target, seen)
		}
	}
	mustTool(t, agent, "browser_click", map[string]any{"target": "#framed"})
	see("a frame")
	if text := mustTool(t, agent, "browser_click", map[string]any{"target": "#near"}); !strings.Contains(text, "Plain") {
		t.Errorf("a file of the workspace: %s", text)
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": "file://" + shop + "/holds.html"})
	see("frames of the document")
	for i := 1; i <= 4; i++ {
		if text, _ := tool(t, agent, "browser_network_request", map[string]any{"index": i}); strings.Contains(text, "precious") {
			t.Errorf("request %d: %s", i, text)
		}
	}

	// A tab that the page opens is listed, but the agent cannot read it.
	mustTool(t, agent, "browser_navigate", map[string]any{"url": leads})
	mustTool(t, agent, "browser_click", map[string]any{"target": "#tab"})
	list := strings.Split(mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"}), "\n")
	for i, line := range list {
		if !strings.Contains(line, "(current)") {
			mustTool(t, agent, "browser_tabs", map[string]any{"action": "select", "index": i})
		}
	}
	for _, name := range []string{"browser_snapshot", "browser_take_screenshot", "browser_dom"} {
		if text, err := tool(t, agent, name, nil); err == nil || !strings.Contains(err.Error(), "out of bounds") {
			t.Errorf("%s of a tab that shows a file outside: %s %v", name, text, err)
		}
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"url": leads})
}

// An agent also sees nothing of a frame of another process that navigates to a file.
func TestFileFramesAfterOthers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<title>Elsewhere</title>elsewhere") }))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	outside := outsidePages(t, shop)
	if err := os.WriteFile(filepath.Join(shop, "mixed.html"), []byte(`<title>Mixed</title><iframe src="`+server.URL+`"></iframe>
<button onclick="document.querySelector('iframe').src = 'file://`+outside+`'">frame</button>`), 0o644); err != nil {
		t.Fatal(err)
	}
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": "file://" + shop + "/mixed.html"})
	if seen := mustTool(t, agent, "browser_snapshot", nil); !strings.Contains(seen, "elsewhere") {
		t.Errorf("a frame of a server: %s", seen)
	}
	mustTool(t, agent, "browser_click", map[string]any{"target": "button"})
	mustTool(t, agent, "browser_wait_for", map[string]any{"time": 0.5})
	if seen, err := tool(t, agent, "browser_snapshot", nil); strings.Contains(seen, "precious") {
		t.Errorf("the frame: %s %v", seen, err)
	}
}

// A tab that a file's page opens may load a picture before the coordinator can block it.
// The agent then sees nothing of the tab until it is reloaded without the picture.
func TestPicturesOfTabsThatFilesOpen(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	outside := filepath.Join(t.TempDir(), "outside.svg")
	for file, text := range map[string]string{
		outside:                           `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"/>`,
		filepath.Join(shop, "opens.html"): `<title>Opens</title><button onclick="window.open('shows.html')">open</button>`,
		filepath.Join(shop, "shows.html"): `<title>Shows</title><p>shows<img id=i src="file://` + outside + `">`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": "file://" + shop + "/opens.html"})
	mustTool(t, agent, "browser_click", map[string]any{"target": "button"})
	tabs := ""
	for deadline := time.Now().Add(10 * time.Second); !strings.Contains(tabs, "Shows") && time.Now().Before(deadline); {
		tabs = mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"}) // no event reports when the tab has its title
	}
	for i, line := range strings.Split(tabs, "\n") {
		if strings.Contains(line, "Shows") {
			mustTool(t, agent, "browser_tabs", map[string]any{"action": "select", "index": i})
		}
	}
	for _, name := range []string{"browser_snapshot", "browser_take_screenshot"} {
		if text, err := tool(t, agent, name, nil); err == nil || !strings.Contains(err.Error(), outside+" is out of bounds") {
			t.Errorf("%s of a tab with a picture outside: %s %v", name, text, err)
		}
	}
	mustTool(t, agent, "browser_navigate", map[string]any{"action": "reload"})
	if width := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title + i.naturalWidth"}); width != `"Shows0"` {
		t.Errorf("loaded anew: %s", width)
	}
}

// The agent may read files in a window's own folders, whatever the working directory is.
func TestFileOfWindow(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	outsidePages(t, shop)
	start(t, dir, "window", "--workspace", shop, "--headless", "--url", "file://"+shop+"/plain.html")
	agent := host(t, dir, folder(t, "elsewhere"))
	mustTool(t, agent, "browser_wait_for", map[string]any{"window": shop, "text": "plain"}) // the window exists before its page
	if seen := mustTool(t, agent, "browser_snapshot", map[string]any{"window": shop}); !strings.Contains(seen, "plain") {
		t.Errorf("a file that the window shows: %s", seen)
	}
}
