package record

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKeep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "benchmarks.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# Figures\n\n<!-- a -->\nold\n<!-- a -->\n\n<!-- b -->\ntheirs\n<!-- b -->\nend\n")
	if err := Keep(file, "a", "new\n"); err != nil {
		t.Fatal(err)
	}
	want := "# Figures\n\n<!-- a -->\nnew\n<!-- a -->\n\n<!-- b -->\ntheirs\n<!-- b -->\nend\n"
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("the file is\n%s%v", got, err)
	}
	write("<!-- a -->\nhalf\n")
	if err := Keep(file, "a", "new\n"); err == nil {
		t.Error("a file without the second mark was taken")
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "<!-- a -->\nhalf\n" {
		t.Errorf("it is changed: %s%v", got, err)
	}
}
