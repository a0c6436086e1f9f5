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
	for _, opts := range []FindOptions{
		{Executable: "/nowhere/chrome"},
		{Getenv: func(string) string { return "/nowhere/chrome" }},
		{Browser: "brave", Getenv: func(string) string { return "" }},
	} {
		found, err := Find(opts)
		if err == nil {
			t.Errorf("%+v: found %+v", opts, found)
			continue
		}
		var missing *NotFoundError
		if !errors.As(err, &missing) || len(missing.Looked) == 0 {
			t.Errorf("%+v: %v does not say where it looked", opts, err)
		}
		if !strings.Contains(err.Error(), "install") || !strings.Contains(err.Error(), EnvBrowser) {
			t.Errorf("%q does not say what to do", err)
		}
	}
	if _, err := Find(FindOptions{Browser: "netscape"}); err == nil || !strings.Contains(err.Error(), "chromium") {
		t.Errorf("unknown browser: %v", err)
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
