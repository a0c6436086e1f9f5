package setup

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// home gives the test a home directory of its own, and a PATH with these programs. It
// returns a workspace.
func home(t *testing.T, programs ...string) (workspace string) {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	for name, value := range map[string]string{
		"HOME": dir, "USERPROFILE": dir, "APPDATA": filepath.Join(dir, "appdata"),
		"XDG_CONFIG_HOME": "", "XDG_STATE_HOME": filepath.Join(dir, "state"), "PATH": bin,
	} {
		t.Setenv(name, value)
	}
	for _, h := range hosts { // the variables that name a host's folder
		for _, variable := range regexp.MustCompile(`\$(\w+)`).FindAllStringSubmatch(strings.Join(h.user, " "), -1) {
			t.Setenv(variable[1], "")
		}
	}
	for _, program := range programs {
		write(t, filepath.Join(bin, program), "#!/bin/sh\n")
		if program == "npx" {
			npxPackage = entryName // as of a version that is published
			t.Cleanup(func() { npxPackage = "" })
		}
		if err := os.Chmod(filepath.Join(bin, program), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "shop")
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func hostOf(t testing.TB, id string) Host {
	t.Helper()
	h, isKnown := Find(id)
	if !isKnown {
		t.Fatalf("there is no host %s", id)
	}
	return h
}

// TestInspect: what is entered is found in each form that hosts have.
func TestInspect(t *testing.T) {
	workspace := home(t, "coordinator", "npx")
	for _, c := range []struct {
		host          string
		text          string
		name, command string
		args          []string
		works         bool
	}{
		{"claude-code", `{"mcpServers": {"browser-coordinator": {"command": "coordinator", "args": ["mcp"]}}}`,
			"browser-coordinator", "coordinator", []string{"mcp"}, true},
		{"claude-code", `{"mcpServers": {"a": {"url": "http://x"}, ` +
			`"browser": {"command": "/gone/coordinator", "args": ["mcp"]}}}`,
			"browser", "/gone/coordinator", []string{"mcp"}, false},
		{"claude-code", `{"mcpServers": {"b": {"command": "npx", "args": ["-y", "browser-coordinator@1", "mcp"]}}}`,
			"b", "npx", []string{"-y", "browser-coordinator@1", "mcp"}, true},
		{"claude-code", `{"mcpServers": {"b": {"command": "npx", "args": ["@playwright/mcp"]}}}`, "", "", nil, false},
		{"vscode", "{ // mine\n\"servers\": {\"browser-coordinator\": {\"command\": " +
			"\"${workspaceFolder}/coordinator\",},},}", "browser-coordinator", "${workspaceFolder}/coordinator", nil,
			false},
		{"cursor", byteOrderMark + `{"mcpServers": ` +
			`{"browser-coordinator": {"command": "C:\\gone\\coordinator.exe", "args": []}}}`,
			"browser-coordinator", `C:\gone\coordinator.exe`, nil, false},
		{"gemini", `{"theme": "x"}`, "", "", nil, false},
		{"amp", `{"amp.mcpServers": {"browser-coordinator": {"command": "coordinator"}}}`, "browser-coordinator",
			"coordinator", nil, true},
		{"copilot", `{"mcpServers": {"b": {"type": "local", "tools": ["*"], "command": "coordinator", "args": ["mcp"]}}}`,
			"b", "coordinator", []string{"mcp"}, true},
		{"copilot", `{"mcpServers": {"b": {"tools": ["*", "x"], "command": "coordinator", "args": ["mcp"]}}}`, "b",
			"coordinator", []string{"mcp"}, false},
		{"codex", "[mcp_servers.browser-coordinator]\ncommand = 'coordinator'\nargs = ['mcp', '--caps', 'pdf']\n",
			"browser-coordinator", "coordinator", []string{"mcp", "--caps", "pdf"}, true},
		{"zed", `{"context_servers": ` +
			`{"browser-coordinator": {"source": "custom", "command": "coordinator", "args": ["mcp"]}}}`,
			"browser-coordinator", "coordinator", []string{"mcp"}, true},
		{"opencode", `{"mcp": {"browser-coordinator": {"type": "local", "command": ["coordinator", "mcp"]}}}`,
			"browser-coordinator", "coordinator", []string{"mcp"}, true},
		{"opencode", `{"mcp": {"servers": {"x": {"type": "local", "command": ["coordinator", "mcp"]}}}}`, "x",
			"coordinator", []string{"mcp"}, true},
	} {
		h := hostOf(t, c.host)
		file, err := h.file(Project, workspace)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, c.text)
		s, err := h.Inspect(Project, workspace)
		if err != nil || s.File != file || !s.Exists || s.Name != c.name || s.Command != c.command ||
			!slices.Equal(s.Args, c.args) || s.Works() != c.works {
			t.Errorf("%s: %s: %+v, %v", c.host, c.text, s, err)
		}
	}
}

// TestInspectWhatIsNotThere: a host without a file has no entry; one without a place for
// a file has no file.
func TestInspectWhatIsNotThere(t *testing.T) {
	workspace := home(t)
	for _, h := range Hosts() {
		if h.Installed() {
			t.Errorf("%s is found in an empty home directory", h.ID)
		}
		for _, scope := range []Scope{Project, User} {
			s, err := h.Inspect(scope, workspace)
			if err != nil || s.Exists || s.Name != "" || s.Works() ||
				(s.File == "") == slices.Contains(h.Scopes(), scope) {
				t.Errorf("%s, %s: %+v, %v", h.ID, scope, s, err)
			}
		}
	}
	write(t, filepath.Join(os.Getenv("HOME"), ".codeium/windsurf/x"), "")
	if h, isKnown := Find("windsurf"); !isKnown || h.ID != "devin" || !h.Installed() {
		t.Errorf("Windsurf is not found by its folder: %+v", h)
	}
}

// TestWithoutHome: without a home directory there is no file of the user.
func TestWithoutHome(t *testing.T) {
	workspace := home(t)
	for _, dir := range []string{"", "relative"} {
		for _, variable := range []string{"HOME", "USERPROFILE", "APPDATA"} {
			t.Setenv(variable, dir)
		}
		for _, h := range Hosts() {
			if s, err := h.Inspect(User, workspace); slices.Contains(h.Scopes(), User) &&
				(err == nil || !strings.Contains(err.Error(), "set HOME to its absolute path")) {
				t.Errorf("%s: %+v, %v", h.ID, s, err)
			}
		}
		if _, err := hostOf(t, "cursor").Inspect(Project, workspace); err != nil {
			t.Error(err)
		}
	}
}

// TestInspectRefuses: a file that cannot be used is named, with the reason.
func TestInspectRefuses(t *testing.T) {
	workspace := home(t)
	for _, c := range []struct{ host, text, reason string }{
		{"claude-code", `{"mcpServers": {`, "it is not valid JSON: line 1, column"},
		{"claude-code", "{\n \"a\" 1}", "it is not valid JSON: line 2, column"},
		{"claude-code", "\xff\xfe{", "it is not UTF-8"},
		{"claude-code", `[]`, "it does not contain an object"},
		{"claude-code", `null`, "it does not contain an object"},
		{"claude-code", `{"mcpServers": null}`, "its mcpServers must contain the servers by their names"},
		{"vscode", `{"servers": {"browser-coordinator": 1}}`, "its servers.browser-coordinator must be a server"},
		{"codex", "model = 'x\n", "it is not valid TOML: line 1, column"},
		{"codex", "a = 1\na = 2\n", "it is not valid TOML"},
		{"codex", "[[mcp_servers]]\n", "its mcp_servers must contain the servers by their names"},
		// The parser compares each table with all others.
		{"codex", strings.Repeat("[mcp_servers.x]\n", 15_000), "it has more than 10000 tables and keys"},
		{"codex", "x = {" + strings.Repeat("y={},", 15_000) + "}\n", "it has more than 10000 tables and keys"},
		{"claude-code", strings.Repeat("[", 8_000_000), "it is larger than 256 KB"}, // it would end the program
	} {
		h := hostOf(t, c.host)
		file, _ := h.file(Project, workspace)
		write(t, file, c.text)
		s, err := h.Inspect(Project, workspace)
		if err == nil || !strings.HasPrefix(err.Error(), file+" is left as it is: "+c.reason) || s.File != file {
			t.Errorf("%q: %+v, %v", c.text, s, err)
		}
	}
}

// TestInspectNoFile: what is no file is named, without the names of system calls.
func TestInspectNoFile(t *testing.T) {
	h := hostOf(t, "cursor")
	for want, place := range map[string]func(file string) error{
		"it is not a regular file; move it away": func(file string) error {
			return os.MkdirAll(file, 0o755)
		},
		"it is a link to a file that does not exist; remove the link, or make that file": func(file string) error {
			return os.Symlink("gone", file)
		},
		"its links lead in a circle; remove it": func(file string) error {
			return os.Symlink(file, file)
		},
		"it cannot be read: not a directory": func(file string) error {
			return replaceFolder(filepath.Dir(file))
		},
	} {
		workspace := home(t)
		file, _ := h.file(Project, workspace)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), place(file)); err != nil {
			t.Skip(err)
		}
		if _, err := h.Add(Project, workspace, ours); err == nil || err.Error() != file+" is left as it is: "+want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// replaceFolder puts a file in the place of an empty folder.
func replaceFolder(folder string) error {
	return errors.Join(os.Remove(folder), os.WriteFile(folder, nil, 0o644))
}

// TestScopesIn: in the home folder some files are those of the user.
func TestScopesIn(t *testing.T) {
	workspace := home(t)
	h := hostOf(t, "cursor")
	if got := h.ScopesIn(workspace); !slices.Equal(got, []Scope{Project, User}) {
		t.Errorf("in a folder: %v", got)
	}
	if got := h.ScopesIn(os.Getenv("HOME")); !slices.Equal(got, []Scope{User}) {
		t.Errorf("in the home folder: %v", got)
	}
	if got := hostOf(t, "claude-code").ScopesIn(os.Getenv("HOME")); !slices.Equal(got, []Scope{Project, User}) {
		t.Errorf("with other names: %v", got)
	}
}

// TestAnotherCoordinator: an entry is taken for ours only if it certainly is. Another program
// of the name is neither shown nor removed.
func TestAnotherCoordinator(t *testing.T) {
	workspace := home(t, "coordinator", "npx")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(workspace), "collector") // this program by another name
	if err := os.Symlink(self, link); err != nil {
		t.Skip("no symbolic links:", err)
	}
	for command, ours := range map[string]bool{
		`"coordinator", "args": ["mcp"]`:                        true,
		`"/old/coordinator", "args": ["mcp", "--caps", "pdf"]`:  true,
		`"/old/browser-coordinator"`:                            true,
		`"npx", "args": ["-y", "browser-coordinator@1", "mcp"]`: true,
		`"` + link + `", "args": ["serve"]`:                     true,
		`"coordinator"`:                                         false,
		`"coordinator", "args": ["-v"]`:                         false,
		`"coordinator", "args": ["otel", "--listen", ":4317"]`:  false,
		`"/opt/other/coordinator", "args": ["--config", "x"]`:   false,
		`"coordinator", "args": ["mcp", "--zookeeper=z"]`:       false,
		`"npx", "args": ["traces", "browser-coordinator"]`:      false,
	} {
		text := `{"mcpServers": {"otel": {"env": {"TOKEN": "s3cr3t"}, "command": ` + command + `}}}`
		h := hostOf(t, "claude-code")
		file, _ := h.file(User, workspace)
		write(t, file, text)
		s, err := h.Inspect(User, workspace)
		if err != nil || (s.Name == "otel") != ours {
			t.Errorf("%s: %+v, %v", command, s, err)
		}
		if ours {
			continue
		}
		removal, err := h.Remove(User, workspace)
		if err != nil || removal.Changed() {
			t.Errorf("%s is removed: %v\n%s", command, err, removal.After)
		}
		addition, err := h.Add(User, workspace, NewEntry("/opt/coordinator"))
		if err != nil || strings.Contains(addition.Diff(), "s3cr3t") || !strings.Contains(addition.After, command) {
			t.Errorf("%s: %v\n%+v", command, err, addition)
		}
	}
}
