package vscodeipc

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"browser-coordinator/internal/must"
	"browser-coordinator/vscodeipc/internal/identity"
)

type identityVector struct {
	System    string `json:"system"`
	Name      string `json:"name"`
	Path      string `json:"path"`
	Hex       string `json:"hex"`
	Canonical string `json:"canonical"`
	Hash      string `json:"hash"`
	Error     string `json:"error"`
}

func (v identityVector) path(t testing.TB) string {
	if v.Hex == "" {
		return v.Path
	}
	b := must.Get(hex.DecodeString(v.Hex))(t)
	return string(b)
}

func identityVectors(t testing.TB, goos string) []identityVector {
	t.Helper()
	vectors := slices.DeleteFunc(readVectors[identityVector](t, "identity"),
		func(v identityVector) bool { return v.System != goos })
	if len(vectors) == 0 {
		t.Fatalf("no vectors for %s", goos)
	}
	return vectors
}

func TestIdentityVectors(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, v := range identityVectors(t, goos) {
			t.Run(goos+"/"+v.Name, func(t *testing.T) {
				canonical, err := identity.Spell(goos, v.path(t))
				if v.Error != "" {
					if err == nil || err.Error() != v.Error {
						t.Fatalf("got %q, %v; want the error %s", canonical, err, v.Error)
					}
					return
				}
				if err != nil || canonical != v.Canonical {
					t.Fatalf("got %q, %v; want %q", canonical, err, v.Canonical)
				}
				if got := Hash(canonical); got != v.Hash {
					t.Errorf("the hash is %s, want %s", got, v.Hash)
				}
			})
		}
	}
}

func TestCanonicalOnDisk(t *testing.T) {
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	shop := filepath.Join(root, "dev", "Shop")
	must.Do(t, os.MkdirAll(filepath.Join(shop, "sub"), 0o700))
	file := filepath.Join(shop, "all.code-workspace")
	must.Do(t, os.WriteFile(file, []byte("{}"), 0o600))
	link := filepath.Join(root, "link")
	must.Do(t, os.Symlink(shop, link))
	must.Do(t, os.Symlink(link, filepath.Join(root, "link2")))
	want := must.Get(identity.Spell(runtime.GOOS, shop))(t)
	t.Chdir(shop)
	for name, path := range map[string]string{
		"itself":                        shop,
		"trailing separator":            shop + "/",
		"link":                          link,
		"link to a link":                filepath.Join(root, "link2"),
		"relative":                      ".",
		"dot dot through a link":        link + "/sub/..",
		"upwards":                       "sub/..",
		"link with trailing separators": link + "//",
	} {
		if got, err := Canonical(path); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
		}
	}
	if got, err := Canonical(filepath.Join(link, "all.code-workspace")); err != nil ||
		got != want+string(filepath.Separator)+"all.code-workspace" {
		t.Errorf("workspace file: got %q, %v", got, err)
	}
	if got, err := Canonical(filepath.Join(root, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: got %q, %v", got, err)
	}
	for _, path := range []string{"", "a\x00b"} {
		if got, err := Canonical(path); err == nil {
			t.Errorf("%q: got %q", path, got)
		}
	}
}

// FuzzSpell checks that a canonical path is its own canonical form, so that both sides
// may canonicalise a path that they receive.
func FuzzSpell(f *testing.F) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, v := range identityVectors(f, goos) {
			f.Add(goos, v.path(f))
		}
	}
	f.Fuzz(func(t *testing.T, goos, path string) {
		first, err := identity.Spell(goos, path)
		if err != nil {
			return
		}
		twice, err := identity.Spell(goos, first)
		if err != nil || twice != first {
			t.Errorf("%q becomes %q, then %q, %v", path, first, twice, err)
		}
	})
}
