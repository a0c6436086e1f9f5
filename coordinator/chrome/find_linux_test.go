package chrome

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func executable(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	brave := executable(t, dir, "brave-browser")
	own := executable(t, t.TempDir(), "my-browser")
	env := func(value string) func(string) string {
		return func(name string) string {
			if name == EnvBrowser {
				return value
			}
			return ""
		}
	}
	for _, test := range []struct {
		name string
		opts FindOptions
		want Installation
	}{
		{"by name", FindOptions{Browser: "brave", Getenv: env("")}, Installation{"brave", brave}},
		{"given", FindOptions{Executable: own, Getenv: env(brave)}, Installation{"", own}},
		{"environment, file", FindOptions{Getenv: env(own)}, Installation{"", own}},
		{"environment, name", FindOptions{Getenv: env("brave")}, Installation{"brave", brave}},
		{"argument before environment", FindOptions{Browser: "brave", Getenv: env(own)}, Installation{"brave", brave}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Find(test.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestFindNothing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	names := func(value string) func(string) string { return func(string) string { return value } }
	for _, test := range []struct {
		name       string
		opts       FindOptions
		want, none []string // parts of the error
	}{
		{"a file", FindOptions{Executable: "/nowhere/chrome"}, []string{"/nowhere/chrome is not there"}, []string{"install", EnvBrowser}},
		{"a file of the environment", FindOptions{Getenv: names("/nowhere/chrome")}, []string{"/nowhere/chrome, which $" + EnvBrowser + " names, is not there"}, []string{"install"}},
		{"a browser of the environment", FindOptions{Getenv: names("brave")}, []string{"brave, which $" + EnvBrowser + " names, is not there"}, nil},
		{"a browser", FindOptions{Browser: "brave", Getenv: names("")}, []string{"brave is not there (looked for brave-browser-stable, "}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := Find(test.opts)
			if err == nil {
				t.Fatalf("found %+v", found)
			}
			var missing *NotFoundError
			if !errors.As(err, &missing) || len(missing.Looked) == 0 {
				t.Errorf("%v does not say where it looked", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			for _, none := range test.none {
				if strings.Contains(err.Error(), none) {
					t.Errorf("%q says %q, which does not help", err, none)
				}
			}
		})
	}
	if _, err := Find(FindOptions{Browser: "netscape"}); err == nil || !strings.Contains(err.Error(), "chromium") {
		t.Errorf("unknown browser: %v", err)
	}
}

// If another browser was requested, the error names the installed ones and suggests no
// install. If none is installed, it suggests one.
func TestFindAnother(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	executable(t, dir, "google-chrome")
	executable(t, dir, "chromium")
	_, err := Find(FindOptions{Browser: "brave", Getenv: func(string) string { return "" }})
	if err == nil || !strings.Contains(err.Error(), "/snap/bin/brave); installed are: chrome, chromium") || strings.Contains(err.Error(), "apt-get") || strings.Contains(err.Error(), EnvBrowser) {
		t.Errorf("without Brave: %v", err)
	}
	none := &NotFoundError{Wanted: "brave", Looked: []string{"brave"}, Advice: "install one with: apt-get install chromium"}
	if want := "brave is not there (looked for brave); install one with: apt-get install chromium, or set " + EnvBrowser; !strings.Contains(none.Error(), want) {
		t.Errorf("without any: %v", none)
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
			t.Errorf("%q: %q does not say %q", test.release, got, test.want)
		}
	}
}
