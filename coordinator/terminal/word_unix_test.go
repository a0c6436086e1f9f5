//go:build unix

package terminal

import (
	"os/exec"
	"testing"
)

// TestWord: the file names in hints can be pasted into a shell.
func TestWord(t *testing.T) {
	for _, word := range []string{"/home/ada/shop", "", "/with blank", "it's", `a\b`, "$HOME", "~", "*.jsonl",
		"naïve/日本", "a;b", "two\nlines"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Word(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is pasted as %s, read as %q, %v", word, Word(word), out, err)
		}
	}
	if plain := "/home/ada/my-shop_2.0"; Word(plain) != plain {
		t.Errorf("%s is quoted without need: %s", plain, Word(plain))
	}
	if got := Word("-x y.jsonl"); got != "'./-x y.jsonl'" {
		t.Errorf("a name that could be a flag is pasted as %s", got)
	}
	for name, want := range map[string]string{`C:\shop`: `C:\shop`, `C:\my shop\`: `"C:\my shop\\"`,
		`C:\my shop`: `"C:\my shop"`, "-x": "./-x"} {
		if got := wordFor("windows", name); got != want {
			t.Errorf("on Windows %s is pasted as %s, want %s", name, got, want)
		}
	}
}
