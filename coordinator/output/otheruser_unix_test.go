//go:build unix

package output

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFolderOfAnotherUser: another user has made the output folder first, or may write to
// it. Nothing is saved there, and the error has the command that solves it if it is the user's own.
func TestFolderOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as another user")
	}
	for _, c := range []struct {
		name, chosen string // below the workspace; absolute: BASE is beside it
		own, other   string // shell commands
		file         string
		fix          string // BASE is the folder of the test
	}{
		{"the default one", "", "chmod 1777 shop", "mkdir -m 777 shop/.browser-coordinator", "x.txt",
			"refuse BASE/shop/.browser-coordinator: it belongs to uid"},
		{"open", "", "mkdir -m 777 shop/.browser-coordinator", "", "x.txt",
			"chmod go-w BASE/shop/.browser-coordinator"},
		{"open to a group", "", "mkdir shop/.browser-coordinator; chgrp 54321 shop/.browser-coordinator; chmod 770 " +
			"shop/.browser-coordinator", "", "x.txt", "chmod go-w BASE/shop/.browser-coordinator"},
		{"a folder in a shared one", "BASE/out", "mkdir -m 1777 out", "mkdir -m 777 out/a", "a/x.txt",
			"refuse BASE/out/a: it belongs to uid"},
		{"a shared one", "BASE/out", "mkdir -m 1777 out", "", "x.txt", ""},
		{"beside the workspace", "BASE/out", "", "mkdir -m 755 out", "x.txt", "refuse BASE/out: it belongs to uid"},
		{"a link beside the workspace", "BASE/out", "mkdir ours", "ln -s BASE/ours out", "x.txt", "refuse BASE/out: it belongs to uid"},
		{"a missing one below a link", "BASE/out/a/b", "mkdir ours", "ln -s BASE/ours out", "x.txt",
			"refuse BASE/out: it belongs to uid"},
		{"a missing one below a link of the user's own", "BASE/out/a/b", "mkdir ours; ln -s BASE/ours out", "", "x.txt", ""},
		{"a link of the user's own", "BASE/out", "mkdir ours; ln -s BASE/ours out", "", "x.txt", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, err := os.MkdirTemp("", "o")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(base) })
			in := func(text string) string { return strings.ReplaceAll(text, "BASE", base) }
			shell := func(script string, as *syscall.SysProcAttr) {
				cmd := exec.Command("/bin/sh", "-c", "umask 0; cd "+base+"; "+in(script))
				cmd.SysProcAttr = as
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", script, err, out)
				}
			}
			shell("chmod 1777 .; mkdir -m 755 shop; umask 022; "+c.own, nil)
			if c.other != "" {
				shell(c.other, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}})
			}
			f := In(filepath.Join(base, "shop"), in(c.chosen))
			_, err = save(t, f, c.file, Text, "secret")
			if c.fix == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), in(c.fix)) ||
				strings.Contains(err.Error(), "; run: ") != (c.other == "") {
				t.Fatalf("it does not name %q: %v", in(c.fix), err)
			}
			if _, err := os.Stat(filepath.Join(f.Path(), c.file)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a file is in the folder: %v", err)
			}
			_, command, found := strings.Cut(err.Error(), "; run: ")
			if !found { // its owner does it
				_, path, _ := strings.Cut(in(c.fix), " ")
				path, _, _ = strings.Cut(path, ":")
				command = "rm -r " + path
			}
			shell(command, nil)
			if _, err := save(t, f, c.file, Text, "secret"); err != nil {
				t.Errorf("after that: %v", err)
			}
		})
	}
}
