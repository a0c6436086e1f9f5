//go:build unix

package main

import (
	"os/exec"
	"testing"
)

// TestShellWord: what a hint says can be pasted.
func TestShellWord(t *testing.T) {
	for _, word := range []string{"/home/ada/shop", "", "/with blank", "it's", `a\b`, "$HOME", "~", "*.jsonl", "naïve/日本", "a;b", "two\nlines"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellWord(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is pasted as %s, read as %q, %v", word, shellWord(word), out, err)
		}
	}
	if plain := "/home/ada/my-shop_2.0"; shellWord(plain) != plain {
		t.Errorf("%s is quoted without need: %s", plain, shellWord(plain))
	}
	if got := shellWord("-x y.jsonl"); got != "'./-x y.jsonl'" {
		t.Errorf("a name that could be a flag is pasted as %s", got)
	}
	for name, want := range map[string]string{`C:\shop`: `C:\shop`, `C:\my shop\`: `"C:\my shop\\"`, `C:\my shop`: `"C:\my shop"`, "-x": "./-x"} {
		if got := wordFor("windows", name); got != want {
			t.Errorf("on Windows %s is pasted as %s, want %s", name, got, want)
		}
	}
}
