package main

import (
	"errors"
	"strings"
	"testing"
)

// TestTable: a short table sums all tasks, and lists those that a contender has not done.
func TestTable(t *testing.T) {
	table := newTable("")
	table.kinds = []string{ours, playwright}
	for _, kind := range table.kinds {
		table.add("easy", kind, result{figures: figures{calls: 2}})
	}
	table.add("hard", ours, result{figures: figures{calls: 3}})
	table.add("hard", playwright, result{figures: figures{calls: 4}, err: errors.New("no")})
	var long, short strings.Builder
	table.print(&long, true)
	table.print(&short, false)
	if line := "| easy | 2, 0, 0 | 2, 0, 0 |\n"; !strings.Contains(long.String(), line) ||
		strings.Replace(long.String(), line, "", 1) != short.String() {
		t.Errorf("%s\n%s", long.String(), short.String())
	}
	for _, line := range []string{"| hard | 3, 0, 0 | 4, 0, 0, **not done** |", "| **calls** | 5 | 6 |"} {
		if !strings.Contains(short.String(), line) {
			t.Errorf("%s\nhas no line %s", short.String(), line)
		}
	}
}
