package tools

import (
	"os"
	"slices"
	"testing"
)

// Nothing is unmapped but what can be read from its file again.
func TestClean(t *testing.T) {
	smaps, err := os.ReadFile("testdata/smaps.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := []mapping{{0x400000, 0xa70000}, {0x7f67f5f49000, 0x7f67f609f000}}
	if got := clean(string(smaps)); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}
