//go:build unix

package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/output"
)

// readers are the tools whose filename names a file to read.
var readers = []string{"browser_set_storage_state"}

// hasFilename reports whether a tool has a parameter for a file's name.
func hasFilename(tool *mcp.Tool) bool {
	properties, _ := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
	return properties["filename"] != nil
}

// contents are all files below a folder, with their content.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			all[rel], err = os.Readlink(path)
			return err
		}
		content, err := os.ReadFile(path)
		all[rel] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every tool that has a filename, including tools that are added later, writes new files
// in the output folder only, whatever the name. Its annotations declare that it writes.
func TestEveryFilename(t *testing.T) {
	browser, workspace, outside := launchBrowser(t), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{".git/config": "[core]\n", "package.json": "{}\n",
		".vscode/tasks.json": "{}\n"} {
		file := filepath.Join(workspace, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Join(workspace, output.DefaultName)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"door": outside, "git": "../.git"} {
		if err := os.Symlink(to, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	before := contents(t, workspace)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<button>Order</button><main>[core]\n\tfsmonitor = x\nCoupon</main>"+
			"<script>console.warn('x')</script>\n"+pageToolOffer)
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	server := NewServer(attachedOptions(t, workspace, browser, CapNames()...))
	session, end := clientOf(t, server, nil)
	t.Cleanup(end)
	other := func(name string, args map[string]any) {
		_, _ = session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	}
	call := func(name string, args map[string]any) (text string, failed bool) {
		t.Helper()
		switch name {
		case "browser_start_video":
			other("browser_stop_video", nil)
		case "browser_storyboard": // of a video under way, with an action
			other("browser_start_video", nil)
			other("browser_navigate", map[string]any{"url": site.URL})
		}
		res, err := session.CallTool(context.WithoutCancel(t.Context()),
			&mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range res.Content {
			if c, ok := c.(*mcp.TextContent); ok {
				text += c.Text + "\n"
			}
		}
		if name == "browser_start_video" && !res.IsError { // or no other starts
			other("browser_stop_video", nil)
		}
		return text, res.IsError
	}
	if text, failed := call("browser_navigate", map[string]any{"url": site.URL}); failed {
		t.Fatal(text)
	}
	with := func(name, filename string) map[string]any {
		var args map[string]any
		if err := json.Unmarshal([]byte(Named(name).Example), &args); err != nil {
			t.Fatal(err)
		}
		args["filename"] = filename
		return args
	}
	tested := 0
	for _, tool := range listTools(t, session) {
		if !hasFilename(tool) || slices.Contains(readers, tool.Name) {
			continue
		}
		tested++
		if isReadOnly(tool) {
			t.Errorf("%s has a filename and is read-only", tool.Name)
		}
		var bodies []map[string]any
		if tool.Name == "browser_network_request" {
			bodies = []map[string]any{{"part": "response-body"}}
		}
		for _, filename := range []string{
			".git/config", ".vscode/tasks.json", ".envrc", ".mcp.json", "../package.json", "../new.json",
			"a/../../new.json",
			filepath.Join(workspace, "package.json"), filepath.Join(workspace, ".git", "hooks", "pre-commit.txt"),
			filepath.Join(outside, "new.txt"),
			"door/new.txt", "git/config", "a:b.txt", "con.txt", "x.txt.", "~/new.txt", "-rf.txt",
		} {
			for _, members := range append(bodies, nil) {
				all := with(tool.Name, filename)
				for key, value := range members {
					all[key] = value
				}
				if text, failed := call(tool.Name, all); !failed {
					t.Errorf("%s wrote %s: %s", tool.Name, filename, text)
				}
			}
		}
		// The name of a program, or of a file that programs load, becomes harmless or is refused.
		for _, filename := range []string{"Makefile", "run.sh", "index.js", "app.desktop", "x.vbs", "x.lnk"} {
			call(tool.Name, with(tool.Name, filename))
		}
		if tool.Name == "browser_record_user" { // no user acts here: TestRecordUser has its file
			continue
		}
		// A name that is free, and one that exists.
		var paths []string
		for range 2 {
			if description, is := strings.CutPrefix(tool.Name, "performance_stop_"); is {
				if text, failed := call("performance_start_"+description, nil); failed {
					t.Errorf("%s: %s", description, text)
				}
			}
			text, failed := call(tool.Name, with(tool.Name, "sub/"+tool.Name))
			index := strings.Index(text, folder)
			if failed || index < 0 {
				t.Errorf("%s does not say where the file is: %s", tool.Name, text)
				break
			}
			path := strings.TrimRight(strings.Fields(text[index:])[0], ".,")
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
				t.Errorf("%s: %s: %v %v", tool.Name, path, info, err)
			}
			paths = append(paths, path)
		}
		if len(paths) == 2 && (paths[0] == paths[1] || !strings.Contains(paths[1], tool.Name+"-2.")) {
			t.Errorf("%s: a name that is taken: %q", tool.Name, paths)
		}
	}
	if tested < 14 {
		t.Errorf("only %d tools have a filename", tested)
	}
	for name, content := range contents(t, workspace) {
		if previous, there := before[name]; there {
			if previous != content {
				t.Errorf("%s was changed to %q", name, content)
			}
			continue
		}
		below, inside := strings.CutPrefix(name, output.DefaultName+"/")
		ext := filepath.Ext(name)
		if !inside || below != ".gitignore" &&
			(strings.HasPrefix(filepath.Base(name), ".") ||
				!slices.Contains([]string{".txt", ".md", ".json", ".html", ".png", ".pdf", ".heapsnapshot",
					".cpuprofile", ".bin", ".ts", ".har", ".webm", ".jpeg"}, ext)) {
			t.Errorf("%s was written", name)
		}
	}
	if left := contents(t, outside); len(left) > 0 {
		t.Errorf("outside there is %v", left)
	}

	// A link in the place of the folder is not followed either.
	if err := os.Rename(folder, filepath.Join(outside, "was")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".git", folder); err != nil {
		t.Fatal(err)
	}
	was := contents(t, filepath.Join(workspace, ".git"))
	for _, tool := range listTools(t, session) {
		if !hasFilename(tool) || slices.Contains(readers, tool.Name) ||
			tool.Name == "browser_storyboard" || // no video can begin here
			tool.Name == "browser_record_user" {
			continue
		}
		if description, is := strings.CutPrefix(tool.Name, "performance_stop_"); is {
			call("performance_start_"+description, nil)
		}
		if text, failed := call(tool.Name, with(tool.Name, "linked")); !failed ||
			!strings.Contains(text, "not followed") {
			t.Errorf("%s through a link in the place of the folder: %s", tool.Name, text)
		}
	}
	if now := contents(t, filepath.Join(workspace, ".git")); fmt.Sprint(now) != fmt.Sprint(was) {
		t.Errorf(".git has %v", now)
	}
}

// A tool with the hint that it only reads has no name of a file to write, and changes
// nothing in the mode view.
func TestReadOnlyTools(t *testing.T) {
	for _, tool := range listTools(t, connect(t, CapNames()...)) {
		if effect := Named(tool.Name).Effect; isReadOnly(tool) && effect != Reads {
			t.Errorf("%s has readOnlyHint, and the effect %d", tool.Name, effect)
		}
		if isReadOnly(tool) && hasFilename(tool) {
			t.Errorf("%s writes files and is readOnlyHint", tool.Name)
		}
	}
}

// isReadOnly is the hint of a listed tool; without annotations it has MCP's default.
func isReadOnly(tool *mcp.Tool) bool { return tool.Annotations != nil && tool.Annotations.ReadOnlyHint }
