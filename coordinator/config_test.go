package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	host(t, dir, src).Refused("browser_snapshot", nil, filepath.Join(shop, ".browser-coordinator/config.toml")+
		" has no-launch")
}

// A project's mode holds in a private browser and in a window whose user allows more, for agents and
// for CDP clients.
func TestProjectsAccessHoldsEverywhere(t *testing.T) {
	t.Parallel()
	dir, shop, url := t.TempDir(), toolstest.Folder(t, "shop"), toolstest.ServeSample(t)
	configure(t, shop, "access = 'view'")
	alone := host(t, dir, shop)
	alone.Must("browser_tabs", args{"action": "list"})
	alone.Refused("browser_navigate", args{"url": url}, "the access mode is \"view\"")

	elsewhere, other := t.TempDir(), toolstest.Folder(t, "other")
	openWindow(t, elsewhere, other, "--access", "full")
	host(t, elsewhere, other).Must("browser_navigate", args{"url": url})
	configure(t, other, "access = 'view'")
	host(t, elsewhere, other).Refused("browser_navigate", args{"url": url}, "the access mode is \"view\"")
}

// A file that counts is named in the error of each command, also of the first in a shell.
func TestErrorsNameTheProjectsFile(t *testing.T) {
	t.Parallel()
	dir, shop := t.TempDir(), toolstest.Folder(t, "shop")
	file := filepath.Join(shop, ".browser-coordinator/config.toml")
	every := [][]string{{"mcp"}, {"serve"}, {"run", "true"}, {"window"}, {"start"}, {"snapshot"}}
	launch := [][]string{{"serve", "--launch"}, {"run", "--launch", "true"}, {"window", "--headless"}}
	for _, c := range []struct {
		text string
		args [][]string
		code int
		want string
	}{
		{"nonsense = [", every, exitUsage, ""},
		{"headed = true", every, exitUsage, ""},
		{"no-launch = true", launch, exitUsage, " has no-launch"},
		{"no-launch = true", [][]string{{"snapshot"}}, 4, " has no-launch"},
	} {
		configure(t, shop, c.text)
		for _, args := range c.args {
			cmd := command(t.Context(), t, dir, args...)
			cmd.Dir = shop
			if out, err := cmd.CombinedOutput(); exitCode(err) != c.code || !strings.Contains(string(out), file+c.want) {
				t.Errorf("%s: %v: %v\n%s", c.text, args, err, out)
			}
		}
	}
	closing := command(t.Context(), t, dir, "close", "--all")
	must.Do(t, closing.Run())
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
