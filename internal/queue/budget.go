package queue

import (
	"runtime/debug"
	"sync/atomic"
)

// Budget counts bytes that many buffers use together. Its methods may be called from any
// goroutine.
type Budget struct {
	limit int64
	used  atomic.Int64
	freed atomic.Int64 // since the last release
}

// NewBudget returns a budget of so many bytes.
func NewBudget(limit int) *Budget { return &Budget{limit: int64(limit)} }

// Reserve takes n bytes, and reports whether the budget has them.
func (b *Budget) Reserve(n int) bool {
	if b.used.Add(int64(n)) > b.limit {
		b.used.Add(-int64(n))
		return false
	}
	return true
}

// Add takes n bytes even beyond the limit, or returns -n.
func (b *Budget) Add(n int) {
	b.used.Add(int64(n))
	if n < 0 {
		b.freed.Add(-int64(n))
	}
}

// Has reports whether the budget has n bytes now.
func (b *Budget) Has(n int) bool { return b.used.Load()+int64(n) <= b.limit }

// Limit is how many bytes may be in use.
func (b *Budget) Limit() int { return int(b.limit) }

// Used is how many bytes are in use.
func (b *Budget) Used() int { return int(b.used.Load()) }

// worthRelease is how much memory must have become free for a release, lastRelease when
// nothing is in use any longer: it takes some milliseconds of a processor.
const worthRelease, lastRelease = 64 << 20, 16 << 20

// Release returns memory to the system that is free again. Go would keep it: its collector
// runs again when as much has been allocated, or after two minutes, and then only a part is
// returned.
func (b *Budget) Release() {
	freed := b.freed.Load()
	if (freed >= worthRelease || freed >= lastRelease && b.used.Load() == 0) && b.freed.CompareAndSwap(freed, 0) {
		debug.FreeOSMemory()
	}
}
