package setup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var ours = NewEntry("/opt/coordinator")

func add(t *testing.T, host, workspace, text string, e Entry) (*Change, error) {
	t.Helper()
	scope := Project
	if !slices.Contains(hostOf(t, host).Scopes(), Project) {
		scope = User
	}
	return addTo(t, host, scope, workspace, text, e)
}

func addTo(t *testing.T, host string, scope Scope, workspace, text string, e Entry) (*Change, error) {
	t.Helper()
	h := hostOf(t, host)
	file, err := h.file(scope, workspace)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, text)
	return h.Add(scope, workspace, e)
}

// TestAdd: only the entry is added, in the style of the text. Removed again, the text is
// what it was.
func TestAdd(t *testing.T) {
	workspace := home(t)
	for _, c := range []struct{ host, before, after string }{
		{
			"claude-code",
			"{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" },\n    \"browser-coordinator\": {\n      " +
				"\"command\": \"/opt/coordinator\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
		},
		{ // tabs, comments, trailing commas
			"vscode",
			"// mine\n{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t// theirs\n\t\t\"other\": {\n\t\t\t\"command\": " +
				"\"x\",\n\t\t}, // why\n\t},\n}\n",
			"// mine\n{\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t// theirs\n\t\t\"other\": {\n\t\t\t\"command\": " +
				"\"x\",\n\t\t}, // why\n\t\t\"browser-coordinator\": {\n\t\t\t\"type\": " +
				"\"stdio\",\n\t\t\t\"command\": \"/opt/coordinator\",\n\t\t\t\"args\": " +
				"[\"mcp\"]\n\t\t},\n\t},\n}\n",
		},
		{ // a comment behind the last server
			"zed",
			"{\n  \"context_servers\": {\n    \"other\": {} // \"}\n  }\n}",
			"{\n  \"context_servers\": {\n    \"other\": {}, // \"}\n    \"browser-coordinator\": {\n      " +
				"\"command\": \"/opt/coordinator\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}",
		},
		{ // CRLF and a byte order mark
			"cursor",
			byteOrderMark + "{\r\n    \"mcpServers\": {}\r\n}\r\n",
			byteOrderMark + "{\r\n    \"mcpServers\": {\r\n        \"browser-coordinator\": {\r\n            " +
				"\"command\": \"/opt/coordinator\",\r\n            \"args\": [\"mcp\"]\r\n        }\r\n    }\r\n}\r\n",
		},
		{
			"opencode",
			"{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"servers\": {\n      " +
				"\"other\": {}\n    }\n  }\n}\n",
			"{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"servers\": {\n      " +
				"\"other\": {},\n      \"browser-coordinator\": {\n        \"type\": \"local\",\n        \"command\": " +
				"[\"/opt/coordinator\", \"mcp\"]\n      }\n    }\n  }\n}\n",
		},
		{
			"codex",
			"# mine\nmodel = \"x\" # fast\nbig = 9223372036854775807\nwhen = 1979-05-27T07:32:00Z\nnot = " +
				"nan\n\n[mcp_servers.other]\ncommand = 'y'\n",
			"# mine\nmodel = \"x\" # fast\nbig = 9223372036854775807\nwhen = 1979-05-27T07:32:00Z\nnot = " +
				"nan\n\n[mcp_servers.other]\ncommand = 'y'\n\n[mcp_servers.browser-coordinator]\ncommand = " +
				"\"/opt/coordinator\"\nargs = [\"mcp\"]\n",
		},
		{
			"codex",
			byteOrderMark + "notes = \"\"\"\r\n[mcp_servers.browser-coordinator]\r\n\"\"\"\r\n",
			byteOrderMark + "notes = \"\"\"\r\n[mcp_servers.browser-coordinator]\r\n\"\"\"\r\n\r\n" +
				"[mcp_servers.browser-coordinator]\r\ncommand = \"/opt/coordinator\"\r\nargs = [\"mcp\"]\r\n",
		},
	} {
		change, err := add(t, c.host, workspace, c.before, ours)
		if err != nil || change.After != c.after {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.host, err, change.After, c.after)
			continue
		}
		if err := change.Write(); err != nil {
			t.Fatal(err)
		}
		second, err := change.Host.Remove(change.Scope, workspace)
		if err != nil || second.After != c.before {
			t.Errorf("%s: removed: %v\n%s\nwant\n%s", c.host, err, second.After, c.before)
		}
	}
}

// TestAddToWhatHasNoServers: the table of servers is made where it is missing.
func TestAddToWhatHasNoServers(t *testing.T) {
	workspace := home(t)
	for _, h := range Hosts() {
		if len(h.Scopes()) == 0 {
			continue
		}
		texts := []string{"", " \n"}
		if h.format == (jsonFormat{}) {
			texts = append(texts, "{}", "{ }\n", `{"a": {"b": []}}`)
			if h.comments {
				texts = append(texts, "// mine\n/* and mine */", "{\n  // nothing yet\n}\n")
			}
			if h.commas {
				texts = append(texts, "{\n\t\"a\": 1, // x\n}")
			}
		} else if h.format == (yamlFormat{}) {
			texts = append(texts, "# mine\n", "GOOSE_MODEL: x", "extensions: {}\na: 1\n")
		} else {
			texts = append(texts, "# mine\n", "model = 'x'", "[mcp_servers]\n")
		}
		for _, text := range texts {
			change, err := addTo(t, h.ID, h.Default, workspace, text, ours)
			if err != nil || !change.Changed() {
				t.Errorf("%s: %q: %v", h.ID, text, err)
				continue
			}
			for _, line := range strings.Split(text, "\n") {
				if kept := strings.Trim(line, "{} ,\t"); !strings.Contains(change.After, kept) {
					t.Errorf("%s: %q is no longer in\n%s", h.ID, kept, change.After)
				}
			}
			if err := change.Write(); err != nil {
				t.Fatal(err)
			}
			if s, err := h.Inspect(change.Scope, workspace); err != nil || s.Command != "/opt/coordinator" ||
				!slices.Equal(s.Args, ours.Args) {
				t.Errorf("%s: %q became\n%s: %+v, %v", h.ID, text, change.After, s, err)
			}
		}
		if !strings.Contains(h.Paste(ours), entryName) {
			t.Errorf("%s: to paste: %s", h.ID, h.Paste(ours))
		}
	}
}

// TestUpdate: of an entry that does not work only the command changes, and the arguments if
// the user has chosen some.
func TestUpdate(t *testing.T) {
	workspace := home(t, "coordinator")
	const gone = `{"mcpServers": {"b": {"type": "stdio", "command": "/gone/coordinator", ` +
		`"args": ["mcp", "--caps", "pdf"], "env": {"A": "1"}, "timeout": 9}, "c": 1}}`
	fixed := strings.Replace(gone, "/gone/", "/opt/", 1)
	works := strings.Replace(gone, "/gone/coordinator", "coordinator", 1)
	chosen := ours.WithArgs([]string{"mcp", "--caps", "storage"})
	npx := Entry{Command: "npx", Args: []string{"-y", entryName, "mcp"}}
	for _, c := range []struct {
		host          string
		scope         Scope
		entry         Entry
		before, after string
	}{
		{"claude-code", User, ours, gone, fixed},
		{"claude-code", Project, ours, gone, fixed},
		{"claude-code", User, ours, works, works},
		{"claude-code", User, NewEntry("coordinator").WithArgs([]string{"mcp", "--caps", "storage"}), works,
			strings.Replace(works, "pdf", "storage", 1)},
		{"claude-code", User, chosen, gone, strings.Replace(fixed, "pdf", "storage", 1)},
		{"claude-code", User, npx, gone, strings.Replace(strings.Replace(gone, "/gone/coordinator", "npx", 1), `["mcp"`,
			`["-y", "browser-coordinator", "mcp"`, 1)},
		{"claude-code", User, ours,
			`{"mcpServers": {"b": {"command": "npx", "args": ["-y", "browser-coordinator@1", "mcp", "--headed"]}}}`,
			`{"mcpServers": {"b": {"command": "/opt/coordinator", "args": ["mcp", "--headed"]}}}`},
		{"claude-code", User, ours,
			`{"mcpServers": {"browser-coordinator": {"command": "/gone/coordinator", "disabled": false}}}`,
			`{"mcpServers": {"browser-coordinator": {"command": "/opt/coordinator", "disabled": false}}}`},
		{"claude-code", User, ours,
			`{"mcpServers": {"browser-coordinator": {"command": "coordinator", "args": ["serve"], "env": {}}}}`,
			`{"mcpServers": {"browser-coordinator": {"command": "/opt/coordinator", "args": ["mcp"], "env": {}}}}`},
		{"claude-code", User, ours, `{"mcpServers": {"browser-coordinator": {"env": {"A": "1"}, "timeout": 9}}}`,
			`{"mcpServers": {"browser-coordinator": {"env": {"A": "1"}, "timeout": 9, "command": "/opt/coordinator", ` +
				`"args": ["mcp"]}}}`},
		{"zed", User, ours,
			`{"context_servers": {"b": {"source": "custom", "command": "/gone/coordinator", "args": ["mcp"], "env": null}}}`,
			`{"context_servers": {"b": {"source": "custom", "command": "/opt/coordinator", "args": ["mcp"], "env": null}}}`},
		{
			"opencode", User, ours,
			"{\n\t\"mcp\": {\n\t\t// mine\n\t\t\"browser-coordinator\": {\"type\": \"local\", \"command\": " +
				"[\"/gone/coordinator\", \"mcp\", \"--headed\"], \"enabled\": true}\n\t}\n}\n",
			"{\n\t\"mcp\": {\n\t\t// mine\n\t\t\"browser-coordinator\": {\"type\": \"local\", \"command\": " +
				"[\"/opt/coordinator\", \"mcp\", \"--headed\"], \"enabled\": true}\n\t}\n}\n",
		},
		{
			"codex", User, ours,
			"  [ mcp_servers . 'browser-coordinator' ] # mine\n  command = '/gone#1/coordinator' # why\nargs = [\n  " +
				"\"mcp\", # no\n  \"--caps\", \"pdf\",\n]\nstartup_timeout_sec = 9\n[tui]\n",
			"  [ mcp_servers . 'browser-coordinator' ] # mine\n  command = \"/opt/coordinator\" # why\nargs = [\n  " +
				"\"mcp\", # no\n  \"--caps\", \"pdf\",\n]\nstartup_timeout_sec = 9\n[tui]\n",
		},
		{
			"codex", User, chosen,
			"[mcp_servers.browser-coordinator]\r\ncommand = '/gone/coordinator'\r\n\r\n" +
				"[mcp_servers.browser-coordinator.env]\r\nA = '1'\r\n",
			"[mcp_servers.browser-coordinator]\r\nargs = [\"mcp\", \"--caps\", \"storage\"]\r\ncommand = " +
				"\"/opt/coordinator\"\r\n\r\n[mcp_servers.browser-coordinator.env]\r\nA = '1'\r\n",
		},
	} {
		change, err := addTo(t, c.host, c.scope, workspace, c.before, c.entry)
		if err != nil || change.After != c.after {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.host, err, change.After, c.after)
		}
	}
	change, err := addTo(t, "claude-code", Project, workspace, gone, ours)
	if err != nil || !strings.Contains(change.Note, "The entry keeps what it has besides its command: A=…") {
		t.Errorf("%+v, %v", change, err)
	}
}

// TestRefused: where the change would touch other contents nothing is changed.
func TestRefused(t *testing.T) {
	workspace := home(t)
	for _, c := range []struct{ host, text, reason string }{
		{"claude-code", `{"mcpServers": {}, "mcpServers": {"other": {}}}`,
			"its mcpServers are written in a form that this program cannot edit"},
		{"claude-code", "{\n// mine\n}", "it has comments, which Claude Code may not read"},
		{"claude-code", "{\"a\": [1,],\n}", "it has trailing commas, which Claude Code may not read"},
		{"gemini", "{\"a\": [1,], // mine\n}", "it has trailing commas, which Gemini CLI may not read"},
		{"codex", "mcp_servers = { other = { command = \"y\" } }\n",
			"its mcp_servers are written in a form that this program cannot edit"},
	} {
		if change, err := add(t, c.host, workspace, c.text, ours); err == nil ||
			!strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %+v, %v", c.text, change, err)
		}
	}
}

// TestRemove: of an entry nothing is left, and all else stays.
func TestRemove(t *testing.T) {
	workspace := home(t)
	for _, c := range []struct{ host, before, after string }{
		{"claude-code", "{\"mcpServers\": {\"a\": 1, " +
			"\"coordinator\": {\"command\": \"coordinator\", \"args\": [\"mcp\"]}, \"b\": 2}}",
			"{\"mcpServers\": {\"a\": 1, \"b\": 2}}"},
		{"cursor", "{\n\"mcpServers\": {\n\"browser-coordinator\": {\n},\n\"b\": 2 // two\n}}",
			"{\n\"mcpServers\": {\n\"b\": 2 // two\n}}"},
		{"cursor", "{\"mcpServers\": {\"browser-coordinator\": {\"command\": \"x\"}, /* b */ }}",
			"{\"mcpServers\": { /* b */ }}"},
		{"claude-code", "{\"mcpServers\": {}}", "{\"mcpServers\": {}}"},
		{"claude-code", "{\"mcpServers\": {\"a\": {\"command\": \"/old/browser-coordinator\"}, \"b\": 2, " +
			"\"browser-coordinator\": {\"command\": \"x\"}}}", "{\"mcpServers\": { \"b\": 2}}"},
		{"codex", "[mcp_servers]\nx = { command = 'y' }\nbrowser-coordinator = { command = 'z' }\n[tui]\n",
			"[mcp_servers]\nx = { command = 'y' }\n[tui]\n"},
		{"codex", "[mcp_servers.browser-coordinator]\ncommand = 'z'\n\n[mcp_servers.browser-coordinator.env]\nA = " +
			"'1'\n\n# tui\n[tui]\n", "\n# tui\n[tui]\n"},
	} {
		h := hostOf(t, c.host)
		file, _ := h.file(Project, workspace)
		write(t, file, c.before)
		change, err := h.Remove(Project, workspace)
		if err != nil {
			t.Errorf("%q: %v", c.before, err)
		} else if change.After != c.after {
			t.Errorf("%q became\n%q, want\n%q", c.before, change.After, c.after)
		}
	}
}

// TestWrite: the mode and a link stay; a file that has changed since it was read stays
// too, and no temporary file is left.
func TestWrite(t *testing.T) {
	workspace := home(t)
	h := hostOf(t, "cursor")
	file := filepath.Join(workspace, ".cursor/mcp.json")
	change, err := h.Add(Project, workspace, ours)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, "{}")
	if err := change.Write(); !errors.Is(err, ErrChanged) {
		t.Errorf("the file has come since: %v", err)
	}
	change, _ = h.Add(Project, workspace, ours)
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "kept.json")
	if err := errors.Join(os.Rename(file, kept), os.Symlink(kept, file)); err != nil {
		t.Fatal(err)
	}
	if err := change.Write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(kept)
	if err != nil || string(text) != change.After {
		t.Errorf("the link's target is %q, %v", text, err)
	}
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if err := change.Write(); !errors.Is(err, ErrChanged) {
		t.Errorf("written twice: %v", err)
	}
	change, _ = h.Remove(Project, workspace)
	if err := os.Chmod(kept, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := change.Write(); err == nil || !strings.Contains(err.Error(), "it is read-only") {
		t.Errorf("a file that is read-only: %v", err)
	}
	for _, dir := range []string{filepath.Dir(file), filepath.Dir(kept)} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s has %v, %v", dir, entries, err)
		}
	}
	if err := errors.Join(os.Chmod(kept, 0o600), os.Remove(kept)); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Add(Project, workspace, ours); err == nil ||
		!strings.Contains(err.Error(), "it is a link to a file that does not exist") {
		t.Errorf("a link to nothing: %v", err)
	}
}

// TestPaste: an entry to paste has the host's own form, and its file is named.
func TestPaste(t *testing.T) {
	workspace := home(t)
	for id, want := range map[string]string{
		"vscode": "{\n  \"servers\": {\n    \"browser-coordinator\": {\n      \"type\": \"stdio\",\n      " +
			"\"command\": \"/opt/coordinator\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
		"copilot": "{\n  \"mcpServers\": {\n    \"browser-coordinator\": {\n      \"type\": \"local\",\n      " +
			"\"tools\": [\"*\"],\n      \"command\": \"/opt/coordinator\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
		"goose": "extensions:\n  browser-coordinator:\n    type: \"stdio\"\n    name: \"browser-coordinator\"\n    " +
			"enabled: true\n    cmd: \"/opt/coordinator\"\n    args: [\"mcp\"]\n",
		"codex": "[mcp_servers.browser-coordinator]\ncommand = \"/opt/coordinator\"\nargs = [\"mcp\"]\n",
	} {
		if text := hostOf(t, id).Paste(ours); strings.TrimSpace(text) != strings.TrimSpace(want) {
			t.Errorf("%s: to paste:\n%s\nwant\n%s", id, text, want)
		}
	}
	for _, h := range Hosts() {
		scope := h.Default
		if scope == "" {
			scope = User
		}
		advice := h.PasteAdvice(scope, workspace)
		if file, _ := h.file(scope, workspace); !strings.HasPrefix(advice, "Paste it into "+file) &&
			!strings.HasPrefix(advice, "Paste it in the IDE") {
			t.Errorf("%s: %s", h.ID, advice)
		}
	}
}

// TestSecrets: what is shown of a change has no value but those of the coordinator's own entries
// that cannot be secret.
func TestSecrets(t *testing.T) {
	workspace := home(t)
	for id, text := range map[string]string{
		"vscode": "// s3cr3t\n{\n\t\"inputs\": [\"s3cr3t\", 53437, true], /* s3cr3t\n s3cr3t */\n\t\"servers\": " +
			"{\n\t\t\"x\": {\"command\": \"s3cr3t\", \"env\": {\"KEY\": \"s3cr3t\"}}, // s3cr3t\n" +
			"\t\t\"b\": {\"command\": \"/gone/coordinator\", \"args\": [\"mcp\"], \"env\": {\"KEY\": \"s3cr3t\", " +
			"\"LANG\": \"C\"}, \"timeout\": 53437, \"headers\": {\"X\": \"s3cr3t\"}},\n\t},\n}\n",
		"codex": "# s3cr3t\nkey = 's3cr3t' # s3cr3t\npin = 53437\n[mcp_servers.x] # s3cr3t\nargs = [\n  's3cr3t', # " +
			"s3cr3t\n]\nheaders = { KEY = \"\"\"\ns3cr3t\"\"\" }\n" +
			"[mcp_servers.b]\ncommand = '/gone/coordinator'\nargs = ['mcp', '--grid', 'http://u:s3cr3t@grid']\n" +
			"pin = 53437\n[mcp_servers.b.env]\nKEY = 's3cr3t'\n[mcp_servers.x.env]\nKEY = 's3cr3t'\n",
	} {
		change, err := addTo(t, id, User, workspace, text, ours)
		if err != nil {
			t.Fatal(err)
		}
		removed, err := change.Host.Remove(User, workspace)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*Change{change, removed} {
			before, after := c.Redacted()
			output := before + after + c.Diff()
			if strings.Contains(output, "s3cr3t") || strings.Contains(output, "53437") ||
				!strings.Contains(output, "KEY") || !strings.Contains(output, "gone/coordinator") {
				t.Errorf("%s: shown:\n%s", id, output)
			}
			if lines := strings.Count(c.Diff(), "\n+") + strings.Count(c.Diff(), "\n-"); lines > 7 {
				t.Errorf("%s: the diff has %d changed lines:\n%s", id, lines, c.Diff())
			}
		}
		if !strings.Contains(change.After, "s3cr3t") {
			t.Errorf("%s: written:\n%s", id, change.After)
		}
	}
}

// TestOwnPath: a host that does not have the user's PATH gets the whole path.
func TestOwnPath(t *testing.T) {
	home(t, "coordinator")
	if text := hostOf(t, "claude-desktop").Paste(NewEntry("coordinator")); !strings.Contains(text,
		filepath.Join(os.Getenv("PATH"), "coordinator")) {
		t.Error(text)
	}
	if text := hostOf(t, "cursor").Paste(NewEntry("coordinator")); !strings.Contains(text, `"command": "coordinator"`) {
		t.Error(text)
	}
}

// TestPerFolder: the entry that Claude Code has of one folder only is found, replaced and
// removed there.
func TestPerFolder(t *testing.T) {
	workspace := home(t, "coordinator")
	h := hostOf(t, "claude-code")
	file := filepath.Join(os.Getenv("HOME"), ".claude.json")
	before := "{\n  \"mcpServers\": {},\n  \"projects\": {\n    " + quote(workspace) + ": {\n      \"mcpServers\": " +
		"{\n        \"browser\": {\n          \"command\": \"/gone/coordinator\",\n          \"args\": [\"mcp\"]\n        " +
		"}\n      }\n    }\n  }\n}\n"
	write(t, file, before)
	change, err := h.Add(User, workspace, ours)
	if err != nil || change.After != strings.Replace(before, "/gone/", "/opt/", 1) {
		t.Errorf("%v, %v", change, err)
	}
	write(t, file, strings.Replace(before, "/gone/coordinator", "coordinator", 1))
	if change, err = h.Add(User, workspace, ours); err != nil || !strings.Contains(change.After, "/opt/coordinator") {
		t.Errorf("beside one of this folder there is none for every folder: %v, %v", change, err)
	}
	if change, err = h.Add(Project, workspace, ours); err != nil ||
		!strings.Contains(change.Note, ".claude.json has an entry that works too: browser.") {
		t.Errorf("%v, %v", change, err)
	}
	if s, err := h.Inspect(User, filepath.Dir(workspace)); err != nil || s.Name != "" {
		t.Errorf("another folder has %+v, %v", s, err)
	}
	if change, err = h.Remove(User, workspace); err != nil || strings.Contains(change.After, "browser") {
		t.Errorf("%v, %v", change, err)
	}
}

// fuzz enters the coordinator into texts, and removes it again: then they contain what they
// did before.
func fuzz(f *testing.F, h Host, texts ...string) {
	for _, text := range texts {
		f.Add(text)
	}
	workspace := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := h.format.parse(text)
		if err != nil || strings.HasPrefix(text, byteOrderMark) || strings.Contains(text, "coordinator") {
			return
		}
		file, _ := h.file(Project, workspace)
		write(t, file, text)
		added, err := h.Add(Project, workspace, ours)
		if err != nil {
			return // refused
		}
		write(t, file, added.After)
		removed, err := h.Remove(Project, workspace)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, added.After, err)
		}
		after, err := h.format.parse(removed.After)
		if name := h.servers[0]; err != nil || !equal(withoutEmpty(after, name), withoutEmpty(tree, name)) {
			t.Errorf("%q became %q and then %q, %v", text, added.After, removed.After, err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	fuzz(f, hostOf(f, "cursor"), "{}", "// a\n{\"b\": [1, {}], /* c */ \"mcpServers\": {\"d\": 1,},}",
		"{\r\n\t\"mcpServers\": {\r\n\t}\r\n}")
}

func FuzzTOML(f *testing.F) {
	fuzz(f, hostOf(f, "codex"), "# a\n", "[mcp_servers.x]\na.b = [ # c\n1]\n", "mcp_servers.y.command = 'x'\r\n[[y]]\n")
}
