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
