package output

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// save writes a file and returns its path below the folder.
func save(t *testing.T, f Folder, name string, kind Kind, content string) (string, error) {
	t.Helper()
	file, err := f.File(name, kind)
	if err != nil {
		return "", err
	}
	path, err := file.Save([]byte(content))
	if err != nil {
		return "", err
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("%s: %q %v", path, got, err)
	}
	rel, err := filepath.Rel(f.Path(), path)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(rel), nil
}

func TestNames(t *testing.T) {
	f := In(t.TempDir(), "")
	for _, c := range []struct {
		name string
		kind Kind
		want string
	}{
		{"shot.png", PNG, "shot.png"},
		{"picture", PNG, "picture.png"},
		{"SHOT.PNG", PNG, "SHOT.PNG"},
		{"./a/../b/deep shot.jpg", JPEG, "b/deep shot.jpg"},
		{filepath.Join(f.Path(), "abs.md"), Outline, "abs.md"},
		{"Makefile", Text, "Makefile.txt"},
		{"body", nil, "body.bin"},
		{"config.yml", nil, "config.yml.bin"},
		{"ünï (1).txt", Text, "ünï (1).txt"},
	} {
		if got, err := save(t, f, c.name, c.kind, "x"); err != nil || got != c.want {
			t.Errorf("%q: %q %v, want %q", c.name, got, err, c.want)
		}
	}
	for _, name := range []string{
		".git/config", "a/.git/config.txt", ".envrc", "..", ".", "", "../x.txt", "a/../../x.txt", "/etc/x.txt",
		f.Path() + "-not/x.txt",
		filepath.Dir(f.Path()) + "/x.txt", "x.sh", "x.js", "tasks.jsonc", "x.txt.", "x.txt ", "x .", " x.txt",
		"x.txt:stream", "C:x.txt", `a\b.txt`, "con.txt", "NUL", "com1.txt", "Lpt².txt",
		"aux .txt", "conin$", "-rf.txt", "~/x.txt", "~", "a\x00.txt", "a\nb.txt", "a\u200b.txt", "\u202etxt.txt",
		"a*.txt", "a/-x/b.txt", "\xff.txt",
	} {
		if got, err := save(t, f, name, Text, "x"); err == nil {
			t.Errorf("%q was saved as %q", name, got)
		}
	}
	if _, err := f.File(strings.Repeat("a/", 20_000)+"x.txt", Text); err == nil ||
		err.Error() != "the filename has 20000 levels of folders: want at most 32" {
		t.Errorf("many levels: %.200v", err)
	}
	if _, err := save(t, f, strings.Repeat("a/", 32)+"x.txt", Text, "x"); err != nil {
		t.Error(err)
	}
	if _, err := f.File("x.sh", JPEG); err == nil || !strings.Contains(err.Error(), ".jpeg or .jpg") {
		t.Errorf("a wrong extension: %v", err)
	}
}

// An existing file is never changed: the next one gets a number.
func TestNumbers(t *testing.T) {
	f := In(t.TempDir(), "")
	for _, want := range []string{"a/n.json", "a/n-2.json", "a/n-3.json"} {
		if got, err := save(t, f, "a/n.json", JSON, want); err != nil || got != want {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
	if err := os.Symlink("/nowhere", filepath.Join(f.Path(), "l.json")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	if got, err := save(t, f, "l.json", JSON, "x"); err != nil || got != "l-2.json" {
		t.Errorf("in place of a link: %q %v", got, err)
	}
}

// Only the owner can read the files, and git ignores them.
func TestModes(t *testing.T) {
	base := t.TempDir()
	f := In(base, "")
	if _, err := save(t, f, "a/s.json", JSON, "x"); err != nil {
		t.Fatal(err)
	}
	if ignored, err := os.ReadFile(filepath.Join(base, DefaultName, ".gitignore")); err != nil ||
		string(ignored) != "*\n!config.toml\n" {
		t.Errorf(".gitignore: %q %v", ignored, err)
	}
	if runtime.GOOS == "windows" {
		return // it has no such modes
	}
	for name, want := range map[string]os.FileMode{".": 0o700, "a": 0o700, "a/s.json": 0o600, ".gitignore": 0o600} {
		if info, err := os.Stat(filepath.Join(f.Path(), name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

// The folder that the user names is used unchanged.
func TestChosenFolder(t *testing.T) {
	base, other := t.TempDir(), filepath.Join(t.TempDir(), "new", "out")
	for _, dir := range []string{base, filepath.Join(base, "out"), filepath.Join(base, ".out"), other} {
		f := In(base, dir)
		if f.Path() != dir {
			t.Errorf("%s is %s", dir, f.Path())
		}
		if _, err := save(t, f, "x.txt", Text, "x"); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if _, err := os.Stat(filepath.Join(dir, ".gitignore")); err == nil {
			t.Errorf("%s has a .gitignore", dir)
		}
	}
}

// An incompletely written file is removed.
func TestFailedWrite(t *testing.T) {
	f := In(t.TempDir(), "")
	file, err := f.File("x.txt", Text)
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	path, _, err := file.Write(func(to *os.File) error {
		to.WriteString("half")
		return failed
	})
	if path != "" || !errors.Is(err, failed) {
		t.Errorf("%q %v", path, err)
	}
	entries, _ := os.ReadDir(f.Path())
	if len(entries) != 1 || entries[0].Name() != ".gitignore" {
		t.Errorf("%v is left", entries)
	}
}

func TestDownloadNames(t *testing.T) {
	f := In(t.TempDir(), "")
	for name, want := range map[string]string{
		"report.csv":               "report.csv",
		"../../.bashrc":            "bashrc.bin",
		`..\..\evil.lnk`:           "evil.lnk.bin",
		"setup.sh":                 "setup.sh.bin",
		"app.desktop":              "app.desktop.bin",
		"x.vbs":                    "x.vbs.bin",
		"Makefile":                 "Makefile.bin",
		"package.json":             "package.json",
		".mcp.json":                "mcp.json",
		"con.txt":                  "_con.txt",
		"a:b.txt":                  "a_b.txt",
		"-rf.zip":                  "rf.zip",
		"":                         "download.bin",
		"...":                      "download.bin",
		"\u202etxt.exe":            "_txt.exe.bin",
		"a.txt. .":                 "a.txt",
		"\xff\xfe.pdf":             "__.pdf",
		strings.Repeat("n", 300):   strings.Repeat("n", longestStem) + ".bin",
		"macro.docm":               "macro.docm.bin",
		"archive.tar.gz":           "archive.tar.gz",
		"page.html":                "page.html",
		"x.txt\x00.sh":             "x.txt_.sh.bin",
		"tasks.json/../../run.bat": "run.bat.bin",
	} {
		file := f.Download(name)
		if got := file.stem + file.ext; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if err := checkName(file.stem + file.ext); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if _, err := file.Save(nil); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestTypes(t *testing.T) {
	for contentType, want := range map[string]string{
		"text/html; charset=utf-8": ".html", "application/json": ".json", "application/ld+json": ".json",
		"application/atom+xml": ".xml",
		"text/javascript":      ".txt", "application/javascript": ".txt", "text/x-sh": ".txt", "application/x-sh": ".bin",
		"": ".bin", "nonsense;;": ".bin", "IMAGE/PNG": ".png",
	} {
		if got := OfType(contentType)[0]; got != want {
			t.Errorf("%q: %s, want %s", contentType, got, want)
		}
	}
}

// No kind has an extension that a program runs, or that an editor, a shell or a build
// loads from a folder automatically.
func TestNoKindRuns(t *testing.T) {
	for _, ext := range data() {
		for _, runs := range []string{".js", ".mjs", ".cjs", ".ts", ".sh", ".bash", ".bat", ".cmd", ".com", ".exe",
			".dll", ".so", ".ps1", ".vbs", ".lnk", ".url", ".desktop", ".scr", ".msi", ".jar", ".py", ".rb", ".pl",
			".php", ".hta", ".reg", ".app", ".command", ".toml", ".env", ".vsix", ".docm", ".xlsm", ".mk",
			".gradle", ".code-workspace"} {
			if strings.EqualFold(ext, runs) {
				t.Errorf("%s is saved", ext)
			}
		}
	}
}
