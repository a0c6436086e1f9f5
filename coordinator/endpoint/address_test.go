package endpoint

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPortsOfWindows: a window's ports follow from its hash by the rule of ADR 4,
// so every version of the program chooses the same.
func TestPortsOfWindows(t *testing.T) {
	for _, window := range []struct {
		id    uint64
		ports [3]int
	}{
		{0x0000000000000000, [3]int{21000, 21001, 21002}},
		{0x0123456789abcdef, [3]int{27895, 26638, 25381}},
		{0x99aa06d3014798d8, [3]int{22240, 29157, 26074}},
		{0xffffffffffffffff, [3]int{22615, 29912, 27209}},
	} {
		for n, want := range window.ports {
			if got := candidate(window.id, n); got != want {
				t.Errorf("%016x has port %d at place %d, want %d", window.id, got, n, want)
			}
		}
	}
}

// TestEveryPort: a window's sequence comes to every port of the range once.
func TestEveryPort(t *testing.T) {
	ids := []uint64{0, math.MaxUint64}
	for step := range uint64(20) { // each way that a step may end
		ids = append(ids, step<<32+rand.Uint64N(1<<32), (Ports-step)<<32)
	}
	for _, id := range ids {
		var seen [Ports]bool
		for n := range Ports {
			port := candidate(id, n)
			if port < FirstPort || port >= FirstPort+Ports || seen[port-FirstPort] {
				t.Fatalf("%016x has port %d at place %d: outside the range, or again", id, port, n)
			}
			seen[port-FirstPort] = true
		}
	}
}
