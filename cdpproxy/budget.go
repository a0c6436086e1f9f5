package cdpproxy

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// memoryLimit bounds what all endpoints of this process buffer for their clients:
// unfinished messages, what a client does not read, and what a tap has not read.
const memoryLimit = 512 << 20

// processMemory is the budget of the whole process.
var processMemory = &budget{limit: memoryLimit}

// budget counts bytes. What does not fit is refused at once.
type budget struct {
	limit int64
	used  atomic.Int64
	freed atomic.Int64 // since the last release
}

// take takes n bytes, and reports whether the budget has them.
func (b *budget) take(n int) bool {
	if b.used.Add(int64(n)) > b.limit {
		b.used.Add(-int64(n))
		return false
	}
	return true
}

// add takes n bytes even beyond the limit.
func (b *budget) add(n int) { b.used.Add(int64(n)) }

// give returns n bytes.
func (b *budget) give(n int) {
	b.used.Add(-int64(n))
	b.freed.Add(int64(n))
}

// has reports whether the budget has n bytes now.
func (b *budget) has(n int) bool { return b.used.Load()+int64(n) <= b.limit }

// worthRelease is how much memory must have become free for a release, lastRelease when
// nothing is in use any longer: it takes some milliseconds of a processor.
const worthRelease, lastRelease = 64 << 20, 16 << 20

// release returns memory to the system that clients no longer hold. Go would keep it: its
// collector runs again when as much has been allocated, or after two minutes, and then
// only a part is returned. It is called when a client has left.
func (b *budget) release() {
	freed := b.freed.Load()
	if (freed >= worthRelease || freed >= lastRelease && b.used.Load() == 0) && b.freed.CompareAndSwap(freed, 0) {
		debug.FreeOSMemory()
	}
}

// exhausted ends a client whose message gets no memory.
func (b *budget) exhausted() ending {
	return ending{closeTryLater, fmt.Sprintf("the endpoint's %d MB for messages are used up by its clients; connect "+
		"again later", b.limit>>20)}
}
