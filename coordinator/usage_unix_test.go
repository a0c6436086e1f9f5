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
}
