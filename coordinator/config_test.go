package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"browser-coordinator/coordinator/status"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/toolstest"
)

// configure writes the config.toml of a project.
func configure(t *testing.T, folder, text string) {
	t.Helper()
	dir := filepath.Join(folder, ".browser-coordinator")
	must.Do(t, os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600))
}

// The limits of all files of a project count beside those of the user.
func TestProjectRestrictsAgent(t *testing.T) {
	t.Parallel()
	dir, shop, url := t.TempDir(), toolstest.Folder(t, "shop"), toolstest.ServeSample(t)
	src := filepath.Join(shop, "src")
	configure(t, shop, `allowed-origins = ["http://127.0.0.1:*", "http://only.example"]`)
	configure(t, src, `blocked-origins = "http://127.0.0.1:1"`)
	agent := host(t, dir, src, "--allowed-origins", "http://127.0.0.1:*,http://wanted.example")
	agent.Must("browser_navigate", args{"url": url})
	for _, denied := range []string{"http://wanted.example/", "http://only.example/", "http://127.0.0.1:1/"} {
		agent.Refused("browser_navigate", args{"url": denied}, "-origins ")
	}
	configure(t, shop, "no-launch = true")
	host(t, dir, src).Refused("browser_snapshot", nil, "no window is open")
}

// The stricter access counts, whoever wants it.
func TestProjectRestrictsWindow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ user, project, want string }{
		{"full", "view", "view"}, {"view", "full", "view"}, {"full", "full", "full"},
	} {
		dir, shop := t.TempDir(), t.TempDir()
		configure(t, shop, "[window]\naccess = '"+test.project+"'")
		openWindow(t, dir, shop, "--access", test.user)
		r := awaitStatus(t, dir, func(r status.Report) bool { return len(r.Windows) == 1 })
		if got := r.Windows[0].Access; got != test.want {
			t.Errorf("%+v: the access is %s", test, got)
		}
	}
}

// TestSpecListsRestrictions: the spec lists the flags that a project's file may set.
func TestSpecListsRestrictions(t *testing.T) {
	text := string(must.Get(os.ReadFile("../specs/command-line.md"))(t))
	for _, c := range new(program).root().Commands() {
		for _, name := range restrictions(c.Root()) {
			if f := c.Flag(name); f != nil && slices.Contains(configured, c.Name()) {
				if _, is := f.Value.(restrictive); !is {
					t.Errorf("--%s of %s is not restrictive, as that of others is", name, c.Name())
				}
			}
		}
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| a project's").FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	if want := restrictions(new(program).root()); !slices.Equal(listed, want) {
		t.Errorf("the spec lists %q, want %q", listed, want)
	}
}
