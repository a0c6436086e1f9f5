//go:build unix

package trusted

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestParents: what another user can replace is refused, and nothing else: sandboxes and
// shared machines have many kinds of parents.
func TestParents(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make folders of another user")
	}
	const other = 54321
	for _, c := range []struct {
		name    string
		change  func(dir string) error
		refused string // part of the reason; empty: it is accepted
	}{
		{"private", func(string) error { return nil }, ""},
		{"readable", func(dir string) error { return os.Chmod(dir, 0o755) }, ""},
		{"writable by all", func(dir string) error { return os.Chmod(dir, 0o777) }, "mode 0777"},
		{"writable by all, sticky", func(dir string) error { return os.Chmod(dir, 0o777|fs.ModeSticky) }, ""},
		{"writable by a group", func(dir string) error {
			return errors.Join(os.Chown(dir, 0, other),
				os.Chmod(dir, 0o775))
		}, "mode 0775"},
		{"writable by the user's own group", func(dir string) error { return os.Chmod(dir, 0o775) }, ""},
		{"another user's", func(dir string) error { return os.Chown(dir, other, other) }, "belongs to uid 54321"},
		{"another user's, sticky", func(dir string) error {
			return errors.Join(os.Chown(dir, other, other), os.Chmod(dir, 0o777|fs.ModeSticky))
		}, "belongs to uid 54321"},
		{"a link", func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-x"), os.Symlink(filepath.Base(dir)+"-x", dir))
		}, ""},
		{"a link to an open folder", func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-x"), os.Chmod(dir+"-x", 0o777),
				os.Symlink("../"+filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir)+"-x", dir))
		}, "mode 0777"},
		{"a link of another user", func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"-x"), os.Symlink(dir+"-x", dir), os.Lchown(dir, other, other))
		}, "link of uid 54321"},
		{"links in a circle", func(dir string) error { return errors.Join(os.Remove(dir), os.Symlink(dir, dir)) },
			syscall.ELOOP.Error()},
		{"a file", func(dir string) error { return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600)) },
			syscall.ENOTDIR.Error()},
		{"missing", os.Remove, syscall.ENOENT.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "parent")
			if err := errors.Join(os.Mkdir(dir, 0o700), c.change(dir)); err != nil {
				t.Fatal(err)
			}
			err := Parents(filepath.Join(dir, "file"))
			if c.refused == "" && err != nil || c.refused != "" &&
				(err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestNothingBlocks: a named pipe has no writer, and is refused at once.
func TestNothingBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(),
		"is a named pipe, not a regular file; run: mv -n '"+path+"' '"+path+".old'") {
		t.Errorf("got %v", err)
	}
}

// TestMakesNothingInARefusedFolder: parents are checked before a missing folder is made there.
func TestMakesNothingInARefusedFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := MakeFolder(filepath.Join(dir, "a", "b"), PrivateFolder); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
		t.Errorf("made %v, %v", made, err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := MakeFolder(filepath.Join(dir, "a", "b"), PrivateFolder); err != nil {
		t.Error(err)
	}
}

// TestNamedFile: a named pipe is refused, which nobody may ever write to, and a file that would
// fill the memory.
func TestNamedFile(t *testing.T) {
	pipe, file := filepath.Join(t.TempDir(), "pipe"), filepath.Join(t.TempDir(), "file")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRegular(pipe); err == nil || !strings.Contains(err.Error(),
		"is a named pipe, not a regular file") {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadRegular(file); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Truncate(file, mostFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRegular(file); err == nil || err.Error() != file+" is larger than 1024 kB" {
		t.Errorf("a large file: %v", err)
	}
}

// TestAdvice: no command that is advised touches what is not the user's own, or replaces anything.
func TestAdvice(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make files of another user")
	}
	const other = 54321
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const own = "it is in a folder of yours: look at it, then move it away"
	make := func(name string, mode fs.FileMode, owner int) string {
		path := at(name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, mode), os.Chown(path, owner, owner)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, target := range map[string]string{"to a device": "/dev/zero", "to a folder": dir,
		"to another user's": make("foreign", 0o600, other), "to the user's own pipe": at("pipe")} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("theirs"), 0o700),
		os.Chown(at("theirs"), other, other), os.Chmod(make("open", 0o666, 0), 0o666)); err != nil {
		t.Fatal(err)
	}
	make("open to all", 0o666, other)
	for what, c := range map[string]struct {
		err  error
		next string
	}{
		"a link to a device":              {second(ReadOwn(at("to a device"))), "put a file of your own in place of " + at("to a device")},
		"a link to a folder":              {second(ReadOwn(at("to a folder"))), "put a file of your own in place of "},
		"a link to another user's file":   {second(ReadOwn(at("to another user's"))), "put a file of your own in place of "},
		"a link to a pipe":                {second(ReadOwn(at("to the user's own pipe"))), "put a file of your own in place of "},
		"a device":                        {second(ReadOwn("/dev/zero")), "use another place, or ask its owner to move it away"},
		"another user's folder":           {Folder(at("theirs"), OwnFolder), own},
		"another user's private folder":   {Folder(at("theirs"), PrivateFolder), own},
		"another user's file":             {second(ReadFile(at("foreign"))), own},
		"another user's, of another kind": {second(ReadFile(at("theirs"))), "use another place, or ask its owner to move it away"},
		"below another user's": {MakeFolder(filepath.Join(at("theirs"), "state"), PrivateFolder),
			"use a folder that is below none of"},
		"another user's open file":        {second(ReadOwn(at("open to all"))), own},
		"the user's own open file":        {second(ReadOwn(at("open"))), "run: chmod go-w " + at("open")},
		"the user's own file of a folder": {Folder(at("open"), PrivateFolder), "run: mv -n " + at("open") + " " + at("open.old")},
	} {
		refused, is := errors.AsType[*Error](c.err)
		if !is || !strings.HasPrefix(refused.Next(), c.next) {
			t.Errorf("%s: %v", what, c.err)
		}
	}
}

func second(_ []byte, err error) error { return err }
