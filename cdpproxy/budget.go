package cdpproxy

import (
	"fmt"
	"sync"
	"time"

	"browser-coordinator/internal/notify"
)

const (
	// memoryLimit bounds what all endpoints of this process buffer for their
	// clients: unfinished messages, commands that wait for a decision, what a
	// client does not read, and what a tap has not read.
	memoryLimit = 512 << 20
	// stallTimeout is how long a holder of memory may make no progress before it is
	// evicted for another one that needs memory.
	stallTimeout = 15 * time.Second
	// memoryTimeout is how long a client waits for memory.
	memoryTimeout = 30 * time.Second
)

// processMemory is the budget of the whole process.
var processMemory = newBudget(memoryLimit, stallTimeout, memoryTimeout)

// budget is a semaphore of bytes. While there is enough, no holder is evicted: a
// client may take minutes for a message. When it is used up, a claim that needs
// more waits, and the holder with the longest time without progress is evicted.
type budget struct {
	limit         int
	stallTimeout  time.Duration
	memoryTimeout time.Duration

	mu     sync.Mutex // guards the fields that follow
	used   int
	claims map[*claim]struct{} // that hold something
	freed  notify.Broadcast    // used has decreased
}

func newBudget(limit int, stallTimeout, memoryTimeout time.Duration) *budget {
	return &budget{
		limit: limit, stallTimeout: stallTimeout, memoryTimeout: memoryTimeout,
		claims: map[*claim]struct{}{},
	}
}

// exhausted is the error for a client whose message gets no memory.
func (b *budget) exhausted() error {
	return &protocolError{closeTryLater, fmt.Sprintf("the endpoint's %d MB for messages are used up by its clients; connect again later", b.limit>>20)}
}

// claim is the share of one holder. The zero claim has no budget and no bound.
type claim struct {
	budget *budget
	// evict ends the holder with a reason; nil: it is never evicted.
	evict func(reason string)
	// over is closed when the holder ends; nil: it cannot wait.
	over <-chan struct{}

	// Guarded by the budget's lock.
	held   int
	moved  time.Time // when the holder last made progress
	waits  bool      // the holder is in await, where it cannot make progress
	closed bool      // the holder has ended or is being evicted
}

// take takes n bytes, and reports whether the budget has them now.
func (c *claim) take(n int) bool {
	if c.budget == nil {
		return true
	}
	ok, _, _ := c.try(n, false)
	return ok
}

// takeAnyway takes n bytes even beyond the limit.
func (c *claim) takeAnyway(n int) {
	if c.budget != nil {
		c.try(n, true)
	}
}

// await is take, but waits until other holders release memory, if its holder can
// wait.
func (c *claim) await(n int) bool {
	if c.budget == nil || c.over == nil {
		return c.take(n)
	}
	ok, freed, again := c.try(n, false)
	if ok {
		return true
	}
	defer c.waiting(false)
	c.waiting(true)
	deadline := time.NewTimer(c.budget.memoryTimeout)
	defer deadline.Stop()
	for !ok {
		retry := time.NewTimer(again)
		select {
		case <-freed:
		case <-retry.C:
		case <-deadline.C:
			retry.Stop()
			return false
		case <-c.over:
			retry.Stop()
			return false
		}
		retry.Stop()
		ok, freed, again = c.try(n, false)
	}
	return true
}

func (c *claim) waiting(now bool) {
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.waits, c.moved = now, time.Now()
}

// try takes n bytes, and evicts stalled holders for that. When it fails, freed is
// closed once there is more, and another holder may have stalled when the duration
// again has passed.
func (c *claim) try(n int, anyway bool) (ok bool, freed <-chan struct{}, again time.Duration) {
	b := c.budget
	now := time.Now()
	var stalled []*claim
	defer func() {
		for _, other := range stalled {
			other.evict(fmt.Sprintf("this client stood still for %v, and the endpoint's %d MB for messages are used up; connect again", b.stallTimeout, b.limit>>20))
		}
	}()
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.closed {
		return anyway, b.freed.Next(), b.memoryTimeout
	}
	again = b.stallTimeout
	for !anyway && b.used+n > b.limit {
		other := b.longestStalled(c)
		if other == nil {
			return false, b.freed.Next(), again
		}
		if again = b.stallTimeout - now.Sub(other.moved); again > 0 {
			return false, b.freed.Next(), again
		}
		other.drop()
		stalled = append(stalled, other)
	}
	if c.held == 0 {
		c.moved = now
	}
	b.used += n
	c.held += n
	b.claims[c] = struct{}{}
	return true, nil, 0
}

// longestStalled returns the other holder with the longest time without progress,
// among those that could make some; b.mu is held.
func (b *budget) longestStalled(asks *claim) *claim {
	var longest *claim
	for c := range b.claims {
		if c != asks && c.evict != nil && !c.waits && (longest == nil || c.moved.Before(longest.moved)) {
			longest = c
		}
	}
	return longest
}

// progress records that the holder has made progress.
func (c *claim) progress() {
	if c.budget == nil {
		return
	}
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.moved = time.Now()
}

// give releases n bytes.
func (c *claim) give(n int) {
	if c == nil || c.budget == nil || n == 0 {
		return
	}
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	if !c.closed {
		c.moved = time.Now()
		c.lower(n)
	}
}

// close releases everything, for good.
func (c *claim) close() {
	if c.budget == nil {
		return
	}
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.drop()
}

// drop is close with the lock held.
func (c *claim) drop() {
	if !c.closed {
		c.closed = true
		c.lower(c.held)
	}
}

func (c *claim) lower(n int) {
	b := c.budget
	b.used -= n
	if c.held -= n; c.held == 0 {
		delete(b.claims, c)
	}
	b.freed.Notify()
}
