package snapshot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// For any two texts, the lines of a diff contain both texts.
func TestDiffLinesKeepBothTexts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var before, after []string
		for range random.IntN(12) {
			before = append(before, fmt.Sprintf("%d\n", random.IntN(8)))
		}
		for range random.IntN(12) {
			after = append(after, fmt.Sprintf("%d\n", random.IntN(8)))
		}
		var x, y []string
		for _, line := range diffLines(before, after) {
			if line.mark != '+' {
				x = append(x, line.text)
			}
			if line.mark != '-' {
				y = append(y, line.text)
			}
		}
		if !slices.Equal(x, before) || !slices.Equal(y, after) {
			t.Fatalf("%q and %q became %q and %q", before, after, x, y)
		}
	}
}

// A line that stays as it is below another parent has moved; below a renamed one it has not.
func TestDiffShowsWhatMoved(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"- list One:\n  - Card:\n    - Open\n- list Two\n", "- list One\n- list Two:\n  - Card:\n    - Open\n",
			"- - list One:\n+ - list One\n+ - list Two:\n-   - Card:\n+   - Card:\n-     - Open\n+     - Open\n- - list Two\n"},
		{"- dialog A:\n  - Yes\n  - No\n", "- dialog B:\n  - Yes\n  - No\n", "- - dialog A:\n+ - dialog B:\n"},
		{"- list:\n  - One\n- p\n", "- q\n- list:\n  - One\n- p\n", "+ - q\n"},
	} {
		if got := diff(c.before, c.after); got != c.want {
			t.Errorf("%s", got)
		}
	}
}

// Nothing that is cut looks complete: an item is left out, and nothing after the cut is shown.
func TestFit(t *testing.T) {
	feed := []string{"- main:\n", "  - article:\n", "    - Old\n", "    - link: One\n",
		"  - article:\n", "    - Breaking 54\n", "    - heading: A long one, longer than the rest\n", "    - x\n"}
	for limit, want := range map[int]int{1000: 8, 100: 4, 75: 4, 20: 1, 35: 3} {
		if got := Fit(feed, limit); got != want {
			t.Errorf("%d bytes: %d lines, want %d", limit, got, want)
		}
	}
}

// New lines stand below their parent, before lines outside of it that have gone.
func TestDiffKeepsNewLinesBelowTheirParent(t *testing.T) {
	before := "- tablist:\n  - tab One [selected]\n  - tab Two\n- tabpanel One:\n  - Save\n"
	after := "- tablist:\n  - tab One\n  - tab Two [selected]\n- tabpanel Two:\n  - Send\n"
	want := "  - tablist:\n-   - tab One [selected]\n-   - tab Two\n+   - tab One\n+   - tab Two [selected]\n" +
		"- - tabpanel One:\n-   - Save\n+ - tabpanel Two:\n+   - Send\n"
	if got := diff(before, after); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
