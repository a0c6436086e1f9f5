package setup

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// formsOf are texts of a host's file, of which many look alike once the entry is in them.
func formsOf(h Host) (texts []string) {
	key := quote(h.servers[len(h.servers)-1])
	texts = []string{"", "\n", " \n\n"}
	switch h.format.(type) {
	case tomlFormat:
		texts = append(texts, "# mine\n", "model = 'x'", "model = 'x'\n\n\n", "[mcp_servers]\n", "[mcp_servers]",
			"[mcp_servers.other]\ncommand = 'y'", "[tui]\n\n")
	case yamlFormat:
		texts = append(texts, "# mine\n", "# mine", "a: 1", "extensions: {}", "extensions: {}\nb: 2\n",
			"extensions: {} # none\n",
			"a: 1\n\n\n", "extensions:\n  x:\n    cmd: y")
	default:
		texts = append(texts, "{}", "{}\n", "{ }", "{\n}\n", `{"a": 1}`, "{\n  \"a\": 1\n}",
			"{"+key+": {}}", "{"+key+": { }}\n",
			"{\n\t"+key+": {\n\t}\n}", "{"+key+": {\"x\": {\"command\": \"y\"}}}", "{\"a\": {\"b\": []}}\n\n")
		if h.comments {
			texts = append(texts, "// mine", "{\n  // nothing yet\n}\n", "{"+key+": {/* none */}} // end")
		}
		if h.commas {
			texts = append(texts, "{\n\t\"a\": 1, // x\n}", "{"+key+": {\"x\": {},},}")
		}
	}
	return texts
}

// TestUndo: what is removed leaves the file byte for byte as it was, and no file or folder that was not
// there.
func TestUndo(t *testing.T) {
	workspace := home(t)
	everything := func() (all map[string]string) {
		all = map[string]string{}
		err := filepath.WalkDir(filepath.Dir(workspace), func(path string, entry fs.DirEntry, err error) error {
			if strings.HasPrefix(path, os.Getenv("XDG_STATE_HOME")) || err != nil {
				return err
			}
			text, _ := os.ReadFile(path) // none of a folder
			all[path] = string(text)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	write(t, filepath.Join(workspace, "x"), "")
	if err := os.MkdirAll(os.Getenv("XDG_STATE_HOME"), 0o700); err != nil {
		t.Fatal(err)
	}
	cases, tried := 0, map[string]bool{}
	for _, h := range Hosts() {
		for _, scope := range h.Scopes() {
			file, err := h.file(scope, workspace)
			if err != nil {
				t.Fatal(err)
			}
			try := func(name string, entries ...Entry) {
				t.Helper()
				cases++
				before := everything()
				for _, e := range entries {
					change, err := h.Add(scope, workspace, e)
					if err != nil || !change.Changed() {
						t.Errorf("%s, %s, %s: %v", h.ID, scope, name, err)
						return
					}
					if err := change.Write(); err != nil {
						t.Fatal(err)
					}
				}
				change, err := h.Remove(scope, workspace)
				if err != nil {
					t.Errorf("%s, %s, %s: %v", h.ID, scope, name, err)
					return
				}
				if err := change.Write(); err != nil {
					t.Fatal(err)
				}
				after := everything()
				for path := range after {
					if _, was := before[path]; !was {
						t.Errorf("%s, %s, %s: %s is left", h.ID, scope, name, path)
					}
				}
				for path, text := range before {
					if now, is := after[path]; !is || now != text {
						t.Errorf("%s, %s, %s: %s is %q, and was %q", h.ID, scope, name, path, now, text)
					}
				}
				if left, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "*", "*")); len(left) > 0 {
					t.Errorf("%s, %s, %s: kept: %v", h.ID, scope, name, left)
				}
			}
			try("no file", ours)
			try("no file, changed twice", ours, NewEntry("/opt/coordinator").WithArgs([]string{"mcp", "--headed"}))
			kind := fmt.Sprint(reflect.TypeOf(h.format), h.comments, h.commas, h.servers, h.fields, h.list)
			forms := formsOf(h)
			if tried[kind] { // another host's file is alike
				forms = forms[:1]
			}
			tried[kind] = true
			for _, text := range forms {
				write(t, file, text)
				try(text, ours)
			}
			// Those in another form, in turn.
			for i, text := range forms {
				switch (i + cases) % 3 {
				case 0:
					text = strings.ReplaceAll(text, "\n", "\r\n")
				case 1:
					text = byteOrderMark + text
				}
				write(t, file, text)
				try(text+" changed twice", ours, NewEntry("/opt/2/coordinator").WithArgs([]string{"mcp", "--headed"}))
			}
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d cases", cases)
}

// TestUndoAfterOtherChanges: where the file has changed meanwhile the entry alone goes, with the table
// that was made for it.
func TestUndoAfterOtherChanges(t *testing.T) {
	workspace := home(t)
	for _, c := range []struct{ host, before, more, after string }{
		{"cursor", `{"a": 1}`, "// mine\n", "// mine\n" + `{"a": 1}`},
		{"cursor", `{"mcpServers": {}}`, "// mine\n", "// mine\n" + `{"mcpServers": {}}`},
		{"goose", "a: 1\n", "b: 2\n", "b: 2\na: 1\n"},
		{"goose", "extensions: {}\n", "b: 2\n", "b: 2\nextensions: {}\n"},
		{"codex", "a = 1\n", "b = 2\n", "b = 2\na = 1\n"},
	} {
		h := hostOf(t, c.host)
		change, err := addTo(t, c.host, h.Default, workspace, c.before, ours)
		if err != nil {
			t.Fatal(err)
		}
		if err := change.Write(); err != nil {
			t.Fatal(err)
		}
		write(t, change.File, c.more+change.After)
		removal, err := h.Remove(h.Default, workspace)
		if err != nil || removal.After != c.after {
			t.Errorf("%s: %q became %q, %v", c.host, c.before, removal.After, err)
		}
	}
}
