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

// A long line continues below, between words; a list stays a list.
func TestFold(t *testing.T) {
	const text = "none fits\n- /home/ada: it has no folder\n  - x"
	for width, want := range map[int]string{
		30: text,
		15: "none fits\n- /home/ada: it\n  has no folder\n  - x",
		8:  "none\n  fits\n-\n  /home/ada:\n  it has\n  no\n  folder\n  - x",
	} {
		if got := Fold(text, width, 2); got != want {
			t.Errorf("in %d columns: %q, want %q", width, got, want)
		}
	}
}

// A cut line says so, and fits also where characters take two columns or none.
func TestCut(t *testing.T) {
	for line, want := range map[string]string{
		"abcdef": "abcdef", "abcdefg": "abcde…", "日本語": "日本語", "日本語x": "日本…",
		"e\u0301bcdef": "e\u0301bcdef", "": "",
	} {
		if got := Cut(line, 6); got != want {
			t.Errorf("%q is cut to %q, want %q", line, got, want)
		}
	}
}
