package cdpproxy

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// memoryLimit bounds what all endpoints of this process buffer for their clients:
// unfinished messages, what a client does not read, and what a tap has not read.
const memoryLimit = 512 << 20

// processMemory is the budget of the whole process.
var processMemory = &budget{limit: memoryLimit}

// budget counts bytes. What does not fit is refused at once.
type budget struct {
	limit int

	mu   sync.Mutex // guards used and most, and the claims
	used int
	most int // since the last release
}

// worthRelease is how much memory must have become free for a release: that takes some
// milliseconds of a processor.
const worthRelease = 64 << 20

// release returns memory to the system that clients no longer hold. Go would keep it: its
// collector runs again when as much has been allocated, or after two minutes, and then
// only a part is returned. It is called when clients have left.
func (b *budget) release() {
	b.mu.Lock()
	worth := b.most-b.used >= worthRelease
	if worth {
		b.most = b.used
	}
	b.mu.Unlock()
	if worth {
		debug.FreeOSMemory()
	}
}

// exhausted is the error for a client whose message gets no memory.
func (b *budget) exhausted() error {
	return &protocolError{closeTryLater, fmt.Sprintf("the endpoint's %d MB for messages are used up by its clients; connect again later", b.limit>>20)}
}

// claim is the share of one holder. The zero claim has no budget and no bound.
type claim struct {
	budget *budget
	held   int
	closed bool
}

// take takes n bytes, and reports whether the budget has them.
func (c *claim) take(n int) bool { return c.change(n, false) }

// takeAnyway takes n bytes even beyond the limit.
func (c *claim) takeAnyway(n int) { c.change(n, true) }

// give releases n bytes.
func (c *claim) give(n int) { c.change(-n, true) }

func (c *claim) change(n int, anyway bool) bool {
	if c == nil || c.budget == nil {
		return true
	}
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	if c.closed || !anyway && c.budget.used+n > c.budget.limit {
		return anyway
	}
	c.budget.used += n
	c.budget.most = max(c.budget.most, c.budget.used)
	c.held += n
	return true
}

// close releases everything, for good.
func (c *claim) close() {
	if c.budget == nil {
		return
	}
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.budget.used -= c.held
	c.held, c.closed = 0, true
}
