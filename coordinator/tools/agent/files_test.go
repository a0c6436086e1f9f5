package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Readable files are anywhere below a root or the output folder, after symbolic links.
func TestReadableFile(t *testing.T) {
	base := t.TempDir()
	root, out, outside := filepath.Join(base, "root"), filepath.Join(base, "out"), filepath.Join(base, "outside")
	for _, dir := range []string{root, out, outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"door": outside, "dangling": filepath.Join(outside, "new.png"),
		"inner": "sub"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(root, "both.json"), filepath.Join(out, "both.json"),
		filepath.Join(out, "saved.json")} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := New(&Options{OutputDir: out, Dir: root, Logger: slog.New(slog.DiscardHandler)}, Host{})
	for _, c := range []struct{ name, want string }{
		{"shot.png", filepath.Join(root, "shot.png")},
		{"new/deep/shot.png", filepath.Join(root, "new/deep/shot.png")},
		{filepath.Join(out, "shot.png"), filepath.Join(out, "shot.png")},
		{"saved.json", filepath.Join(out, "saved.json")},
		{"both.json", filepath.Join(root, "both.json")},
		{"../outside/shot.png", "refused"},
		{"..", "refused"},
		{".", "refused"},
		{filepath.Join(outside, "shot.png"), "refused"},
		{"door/shot.png", "refused"},
		{"dangling", "refused"},
		{root + "-not/shot.png", "refused"},
	} {
		got, err := a.AllowedFile(t.Context(), c.name)
		if c.want == "refused" {
			if err == nil || !strings.Contains(err.Error(), "out of bounds") {
				t.Errorf("%q: %q, %v; want a refusal", c.name, got, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}
