package terminal

import "testing"

func TestWrap(t *testing.T) {
	const text = "Show what is\ngoing on:\n\n  live   it   responded\nand the rest"
	for width, want := range map[int]string{
		80: "Show what is going on:\n\n  live   it   responded\nand the rest",
		12: "Show what is\ngoing on:\n\n  live   it   responded\nand the rest",
		3:  "Show\nwhat\nis\ngoing\non:\n\n  live   it   responded\nand\nthe\nrest",
	} {
		if got := Wrap(text, width); got != want {
			t.Errorf("in %d columns: %q, want %q", width, got, want)
		}
	}
}
