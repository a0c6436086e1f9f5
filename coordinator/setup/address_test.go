package setup

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"browser-coordinator/coordinator/terminal"
)

// listener serves as `coordinator mcp --listen` does, as far as its token.
func listener(t *testing.T, token string) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("WWW-Authenticate", `Bearer realm="browser-coordinator"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

// TestListenerEntries: an entry that connects to `coordinator mcp --listen` is examined by a request.
// It is never rewritten, and nothing of it is shown that is secret.
func TestListenerEntries(t *testing.T) {
	workspace := home(t, "coordinator")
	t.Setenv("GOOD", "s3cr3t")
	url := listener(t, "s3cr3t")
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	for _, c := range []struct {
		url, authorization, want string
		health                   Health
	}{
		{url, "Bearer s3cr3t", "connects to " + url, Works},
		{url, "Bearer ${GOOD}", "connects to " + url, Works},
		{url, "Bearer ${input:token}", "connects to " + url, Works},
		{url, "Bearer s3cr3t-wrong", "refuses its token", Broken},
		{url, "", "sends no header Authorization", Broken},
		{"http://127.0.0.1:1/mcp", "Bearer s3cr3t", "no program serves at http://127.0.0.1:1/mcp", Broken},
		{other.URL + "/mcp", "Bearer s3cr3t", "another program serves at " + other.URL, Broken},
	} {
		for id, text := range map[string]string{
			"claude-code": `{"mcpServers": {"browser-coordinator": {"type": "http", "url": "` + c.url +
				`", "headers": {"Authorization": "` + c.authorization + `"}}}}`,
			"vscode": `{"servers": {"browser-coordinator": {"type": "http", "url": "` + c.url +
				`", "headers": {"Authorization": "` + c.authorization + `"}, }}}`,
			"gemini": `{"mcpServers": {"browser-coordinator": {"httpUrl": "` + c.url +
				`", "headers": {"authorization": "` + c.authorization + `"}}}}`,
			"devin": `{"mcpServers": {"browser-coordinator": {"serverUrl": "` + c.url +
				`", "headers": {"Authorization": "` + c.authorization + `"}}}}`,
			"goose": "extensions:\n  browser-coordinator:\n    type: streamable_http\n    uri: " + c.url +
				"\n    headers:\n      Authorization: " + quote(c.authorization) + "\n",
		} {
			h := hostOf(t, id)
			for _, scope := range h.Scopes() {
				change, err := addTo(t, id, scope, workspace, text, ours)
				if err != nil || change.Changed() {
					t.Errorf("%s, %s: %v, changed: %v", id, c.url, err, change)
					continue
				}
				if change, err = h.Add(scope, workspace, ours.WithArgs([]string{"mcp", "--headed"})); err != nil ||
					change.Changed() {
					t.Errorf("%s, %s: with arguments: %v, changed: %v", id, c.url, err, change)
				}
				d, untried := h.Examine(t.Context(), scope, change.State, workspace)
				if d.Health != c.health || !strings.Contains(d.Text, c.want) || strings.Contains(d.Text, "s3cr3t") ||
					(untried != "") != strings.Contains(c.authorization, "input:") {
					t.Errorf("%s, %s, %s: %+v, untried: %s", id, c.url, c.authorization, d, untried)
				}
				removal, err := h.Remove(scope, workspace)
				if err != nil || !removal.Changed() || strings.Contains(removal.Diff(), "s3cr3t") {
					t.Errorf("%s: removed: %v\n%s", id, err, removal.Diff())
				}
				if err := os.Remove(change.File); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	codex := hostOf(t, "codex")
	text := "[mcp_servers.browser-coordinator]\nurl = '" + url + "'\nbearer_token_env_var = 'GOOD'\n"
	change, err := addTo(t, "codex", User, workspace, text, ours)
	if err != nil || change.Changed() {
		t.Fatalf("codex: %v, %+v", err, change)
	}
	if d, _ := codex.Examine(t.Context(), User, change.State, workspace); d.Health != Works {
		t.Errorf("codex: %+v", d)
	}
}

// TestAddressesElsewhere: an entry that connects to anything else is not ours, and is left alone. One
// of another name is ours if a coordinator serves there.
func TestAddressesElsewhere(t *testing.T) {
	workspace := home(t, "coordinator")
	h := hostOf(t, "cursor")
	file, _ := h.file(Project, workspace)
	for _, url := range []string{"https://evil.example/mcp", "http://127.0.0.1:9/other", "http://u:p@127.0.0.1:9/mcp",
		"http://127.0.0.1.evil.example/mcp", "http://127.0.0.1:9/mcp?to=x"} {
		write(t, file, `{"mcpServers": {"browser-coordinator": {"url": "`+url+`", "headers": {"A": "s3cr3t"}}}}`)
		if s, err := h.Inspect(Project, workspace); err != nil || s.Name != "" {
			t.Errorf("%s: %+v, %v", url, s, err)
		}
		if _, err := h.Add(Project, workspace, ours); err == nil || !strings.Contains(err.Error(), "rename or remove it") {
			t.Errorf("%s: added: %v", url, err)
		}
		if change, err := h.Remove(Project, workspace); err != nil || change.Changed() {
			t.Errorf("%s: removed: %v, %v", url, change, err)
		}
	}
	for url, isOurs := range map[string]bool{listener(t, "x"): true, "http://127.0.0.1:1/mcp": false} {
		write(t, file, `{"mcpServers": {"browser": {"url": "`+url+`"}}}`)
		if s, err := h.Inspect(Project, workspace); err != nil || (s.Name == "browser") != isOurs {
			t.Errorf("browser at %s: %+v, %v", url, s, err)
		}
	}
}

// TestOwnSecrets: what is shown of the coordinator's own entry has no secret: in the diff, the notes,
// the list and its JSON.
func TestOwnSecrets(t *testing.T) {
	workspace := home(t, "coordinator")
	const grid = "http://ada:s3cr3t@grid.example:4444/"
	tree := map[string]any{
		"command": "/gone/coordinator",
		"args":    []string{"mcp", "--grid", grid, "--attach=wss://x.example/s3cr3t?token=s3cr3t", "TOKEN=s3cr3t"},
		"env": map[string]any{"BROWSER_COORDINATOR_TOKEN": "s3cr3t", "BROWSER_COORDINATOR_GRID": grid,
			"BROWSER_COORDINATOR_HEADERS": "Authorization: s3cr3t", "API_KEY": "s3cr3t"},
		"headers": map[string]any{"Authorization": "Bearer s3cr3t"}, "apiKey": "s3cr3t",
	}
	codex, err := toml.Marshal(map[string]any{"mcp_servers": map[string]any{entryName: tree}})
	if err != nil {
		t.Fatal(err)
	}
	yaml := "extensions:\n  browser-coordinator:\n    cmd: /gone/coordinator\n    args:\n      - mcp\n      - --grid\n" +
		"      - " + grid + " # s3cr3t\n    envs:\n      TOKEN: s3cr3t\n    env_keys: [s3cr3t]\n"
	claude := written(t, hostOf(t, "claude-code"), "/gone/coordinator", tree["args"].([]string),
		tree["env"].(map[string]any), map[string]any{"headers": tree["headers"], "apiKey": "s3cr3t"})
	for id, text := range map[string]string{"claude-code": claude, "codex": string(codex), "goose": yaml} {
		for _, scope := range hostOf(t, id).Scopes() {
			change, err := addTo(t, id, scope, workspace, text, ours)
			if err != nil || !change.Changed() {
				t.Fatalf("%s: %v, %+v", id, err, change)
			}
			before, after := change.Redacted()
			var listed strings.Builder
			files := List(t.Context(), workspace)
			rows, _, _ := Table(files, nil)
			for _, row := range rows {
				listed.WriteString(strings.Join(row, " "))
			}
			if err := terminal.JSON(&listed, files); err != nil {
				t.Fatal(err)
			}
			shown := before + after + change.Diff() + change.Note + listed.String()
			if strings.Contains(shown, "s3cr3t") || !strings.Contains(shown, "grid.example") ||
				!strings.Contains(change.After, "s3cr3t") {
				t.Errorf("%s, %s: shown:\n%s", id, scope, shown)
			}
			if err := os.Remove(change.File); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestUnpublishedPackage: npx would start whatever has the package's name at the registry, so no entry
// and no skill has it before this version's package is published.
func TestUnpublishedPackage(t *testing.T) {
	workspace := home(t, "coordinator", "npx")
	npxPackage = ""
	h := hostOf(t, "cursor")
	npx := Entry{Command: "npx", Args: []string{"-y", entryName, "mcp"}}
	for _, scope := range h.Scopes() {
		change, err := addTo(t, "cursor", scope, workspace, written(t, h, "npx", npx.Args, nil, nil), NewEntry("coordinator"))
		if err != nil || !strings.Contains(change.After, `"command":"coordinator"`) &&
			!strings.Contains(change.After, `"command": "coordinator"`) || strings.Contains(change.After, "npx") {
			t.Errorf("%s: %v\n%s", scope, err, change.After)
		}
		if d := h.Diagnose(scope, change.State); d.Health != Broken || !strings.Contains(d.Text, "nobody has published") {
			t.Errorf("%s: %+v", scope, d)
		}
		skill, err := h.AddSkill(scope, workspace, npx)
		if err != nil {
			t.Fatal(err)
		}
		write(t, skill.File, skill.After)
	}
	for _, s := range Skills(workspace) {
		if s.Health == Works {
			t.Errorf("%s is vouched for", s.File)
		}
	}
}

// TestSelfFromPackages: installed with npm for all folders, the program is entered by its name, and not
// by the one that npm makes for a project's scripts alone.
func TestSelfFromPackages(t *testing.T) {
	home(t)
	prefix := t.TempDir()
	program := filepath.Join(prefix, "lib/node_modules/browser-coordinator/node_modules/@scope/linux-x64/coordinator")
	start := filepath.Join(prefix, "lib/node_modules/browser-coordinator/start.js")
	link := func(from, to string) {
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, from); err != nil {
			t.Skip("no symbolic links:", err)
		}
	}
	for _, file := range []string{program, start} {
		write(t, file, "#!/bin/sh\n")
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	hoisted := filepath.Join(prefix, "lib/node_modules/@scope/linux-x64/coordinator")
	write(t, hoisted, "")
	stranger := filepath.Join(prefix, "elsewhere/node_modules/@scope/linux-x64/coordinator")
	write(t, stranger, "")
	link(filepath.Join(prefix, "bin/coordinator"), start)
	link(filepath.Join(prefix, "lib/node_modules/.bin/coordinator"), start)
	for file, want := range map[string]bool{program: true, hoisted: true, stranger: false} {
		if launches(filepath.Join(prefix, "bin/coordinator"), file) != want {
			t.Errorf("%s: it is said to be started: %v", file, !want)
		}
	}
	t.Setenv("PATH", filepath.Join(prefix, "lib/node_modules/.bin"))
	if found := onPath("coordinator"); found != "" {
		t.Errorf("a host is said to find %s", found)
	}
	t.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+filepath.Join(prefix, "bin"))
	if found := onPath("coordinator"); found != filepath.Join(prefix, "bin/coordinator") {
		t.Errorf("a host is said to find %q", found)
	}
}
