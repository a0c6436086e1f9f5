package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// downloads serves a page with links to files: two at once, one that waits until goOn is
// closed, and one that breaks off.
func downloads(t *testing.T, goOn <-chan struct{}) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		attach := func(name string) {
			w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
		}
		switch r.URL.Path {
		case "/":
			io.WriteString(w, `<title>Files</title><a id=report href=/report>report</a> <a id=slow href=/slow>slow</a> <a id=broken href=/broken>broken</a> <a id=tab target=_blank href=/report>tab</a>`)
		case "/report":
			attach("report.csv")
			io.WriteString(w, "a,b")
		case "/dots":
			attach("../../.bashrc")
			io.WriteString(w, "dots")
		case "/slow":
			attach("slow.bin")
			w.Header().Set("Content-Length", "4004")
			io.WriteString(w, strings.Repeat("half", 1000)) // enough for the browser to recognise the type
			w.(http.Flusher).Flush()
			select {
			case <-goOn:
			case <-r.Context().Done():
			}
			io.WriteString(w, "rest")
		case "/broken":
			attach("broken.bin")
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "too little")
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// filesIn lists the files below a folder, without the hidden ones.
func filesIn(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Downloads in an agent's own browser go to the agent's output folder. The tool's result
// names the file, and the user's home stays empty.
func TestDownloads(t *testing.T) {
	_, profiles := profilesIn(t)
	goOn := make(chan struct{})
	url := downloads(t, goOn)
	dir, shop := t.TempDir(), folder(t, "shop")
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
	for _, name := range []string{"report.csv", "report-2.csv"} { // no download overwrites another
		file := savedIn(shop, name)
		if text := mustTool(t, agent, "browser_click", map[string]any{"target": "#report"}); !strings.Contains(text, "Downloaded "+file+" (3 B) from "+url+"/report") {
			t.Errorf("a download: %s", text)
		}
		if data, err := os.ReadFile(file); err != nil || string(data) != "a,b" {
			t.Errorf("%s: %q %v", file, data, err)
		}
	}
	if text := mustTool(t, agent, "browser_navigate", map[string]any{"url": url + "/dots"}); !strings.Contains(text, "(4 B)") || !strings.Contains(text, savedIn(shop, "_.._.bashrc.bin")) {
		t.Errorf("a navigation to a download: %s", text)
	}
	if text := mustTool(t, agent, "browser_click", map[string]any{"target": "#broken"}); !strings.Contains(text, "The download of "+url+"/broken failed") {
		t.Errorf("a download that breaks off: %s", text)
	}
	if text := mustTool(t, agent, "browser_click", map[string]any{"target": "#slow"}); !strings.Contains(text, "A download began, and the tab stays where it is: "+url+"/slow") || !strings.Contains(text, "when it has ended") {
		t.Errorf("a long download: %s", text)
	}
	close(goOn)
	text := mustTool(t, agent, "browser_wait_for", map[string]any{"time": 1})
	text += mustTool(t, agent, "browser_snapshot", nil)
	if strings.Count(text, "Downloaded "+savedIn(shop, "slow.bin")+" (4004 B)") != 1 {
		t.Errorf("after its end: %s", text)
	}
	for _, file := range append(filesIn(t, filepath.Join(dir, "home")), filesIn(t, shop)...) {
		if strings.Contains(filepath.Base(file), "bashrc") && strings.HasPrefix(filepath.Base(file), ".") || strings.HasPrefix(file, dir) && (strings.Contains(file, "report") || strings.Contains(file, "slow")) {
			t.Errorf("%s is there", file)
		}
	}
	agent.Close()
	if left := profiles(); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// The output folder also receives downloads.
func TestDownloadsToOutput(t *testing.T) {
	url := downloads(t, nil)
	out := t.TempDir()
	agent := host(t, t.TempDir(), folder(t, "shop"), "--output-dir", out)
	mustTool(t, agent, "browser_navigate", map[string]any{"url": url})
	if text := mustTool(t, agent, "browser_click", map[string]any{"target": "#tab"}); !strings.Contains(text, "Downloaded "+filepath.Join(out, "report.csv")) {
		text += mustTool(t, agent, "browser_wait_for", map[string]any{"time": 1})
		if !strings.Contains(text, "Downloaded "+filepath.Join(out, "report.csv")) {
			t.Errorf("a download by another tab: %s", text)
		}
	}
}

// In a window's browser downloads belong to the user: the agent only gets a
// notification.
func TestDownloadInWindow(t *testing.T) {
	url := downloads(t, nil)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless", "--url", url)
	agent := host(t, dir, shop)
	mustTool(t, agent, "browser_wait_for", map[string]any{"url": url})
	if text := mustTool(t, agent, "browser_click", map[string]any{"target": "#report"}); !strings.Contains(text, "A download began, and the tab stays where it is: "+url+"/report") || strings.Contains(text, "ended") {
		t.Errorf("a download: %s", text)
	}
	if files := filesIn(t, shop); len(files) > 0 {
		t.Errorf("%q is in the workspace", files)
	}
}
