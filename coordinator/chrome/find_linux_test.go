package chrome

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"browser-coordinator/internal/must"
)

func executable(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
	return path
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	brave := executable(t, dir, "brave-browser")
	custom := executable(t, t.TempDir(), "my-browser")
	text := filepath.Join(t.TempDir(), "notes.txt")
	must.Do(t, os.WriteFile(text, nil, 0o600))
	for _, test := range []struct {
		name string
		opts FindOptions
		env  string
		want string
		err  string // if none is found; the whole text where it ends with a full stop
	}{
		{"by name", FindOptions{Browser: "brave"}, "", brave, ""},
		{"given", FindOptions{Executable: custom}, brave, custom, ""},
		{"environment, file", FindOptions{}, custom, custom, ""},
		{"environment, name", FindOptions{}, "brave", brave, ""},
		{"argument before environment", FindOptions{Browser: "brave"}, custom, brave, ""},
		{"missing file", FindOptions{Executable: "/nowhere/chrome"}, "", "",
			"no browser found: /nowhere/chrome does not exist."},
		{"missing file of the environment", FindOptions{}, "/nowhere/chrome", "",
			"no browser found: /nowhere/chrome, which $" + EnvBrowser + " names, does not exist."},
		{"not a program", FindOptions{Executable: text}, "", "",
			"no browser found: " + text + " is not a program that can be started; name the browser's executable."},
		{"unknown name", FindOptions{Browser: "netscape"}, "", "",
			`unknown browser "netscape": want one of chrome, chromium, msedge, brave.`},
		// The installed ones are the next step, not an install.
		{"another is installed", FindOptions{Browser: "msedge"}, "", "",
			"no browser found: msedge is not installed (searched: microsoft-edge-stable, microsoft-edge, " +
				"/opt/microsoft/msedge/msedge); installed are: "},
		{"environment, another is installed", FindOptions{}, "msedge", "",
			"msedge, which $" + EnvBrowser + " names, is not installed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv(EnvBrowser, test.env)
			got, err := Find(test.opts)
			if got != test.want || (err == nil) != (test.err == "") {
				t.Fatalf("got %q, %v, want %q", got, err, test.want)
			}
			if err != nil && !strings.Contains(err.Error()+".", test.err) {
				t.Errorf("error %q, want %q", err, test.err)
			}
		})
	}
	if err := notInstalled("brave", []string{"brave"}, nil); err.Error() != "no browser found: brave is not installed "+
		"(searched: brave); "+advice()+", or set "+EnvBrowser+" to its executable" {
		t.Errorf("without any: %v", err)
	}
}

func TestAdvice(t *testing.T) {
	for _, test := range []struct{ release, want string }{
		{"PRETTY_NAME=\"Debian\"\nID=debian\n", "apt-get install chromium"},
		{"ID=ubuntu\nID_LIKE=debian\n", "Google Chrome"},
		{"ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "dnf install chromium"},
		{"ID=alpine\n", "apk add chromium"},
		{"ID=manjaro\nID_LIKE=arch\n", "pacman -S chromium"},
		{"", "Google Chrome"},
	} {
		if got := adviceFor(test.release); !strings.Contains(got, test.want) {
			t.Errorf("%q: %q does not contain %q", test.release, got, test.want)
		}
	}
}
