package cdpproxy

import (
	"fmt"
	"sync"
	"time"
)

const (
	// memoryLimit bounds what the endpoints of this process keep for their clients
	// in all: unfinished messages, commands that wait for a decision, what a client
	// does not read, and what a tap has not read.
	memoryLimit = 512 << 20
	// stalled is how long the holder of memory may stand still before it has to
	// give way to another that needs some.
	stalled = 15 * time.Second
	// patience is how long a client is kept waiting for memory.
	patience = 30 * time.Second
)

// memory is the budget of the whole process.
var memory = &budget{limit: memoryLimit, claims: map[*claim]struct{}{}, freed: make(chan struct{})}

// budget is a semaphore of bytes. While there is enough, nobody is hurried: a client
// may take minutes for a message. When it is used up, who needs more waits, and who
// has stood still for the longest time gives way.
type budget struct {
	limit int

	mu     sync.Mutex // guards the fields that follow
	used   int
	claims map[*claim]struct{} // that hold something
	freed  chan struct{}       // closed and replaced when used becomes less
}

// claim is what one holder has of the budget. The zero claim belongs to none, and
// takes what it likes.
type claim struct {
	budget *budget
	// evict ends the holder with a reason; nil: it never gives way.
	evict func(reason string)
	// over is closed when the holder ends; nil: it cannot wait.
	over <-chan struct{}

	// Guarded by the budget's lock.
	held   int
	moved  time.Time // when the holder last went on
	waits  bool      // in await, so it could not go on
	closed bool      // the holder has ended, or gives way
}

// take asks for n bytes more, and reports whether the holder may have them now.
func (c *claim) take(n int) bool {
	if c.budget == nil {
		return true
	}
	ok, _, _ := c.try(n, false)
	return ok
}

// takeAnyway takes what cannot be done without.
func (c *claim) takeAnyway(n int) {
	if c.budget != nil {
		c.try(n, true)
	}
}

// await is take that waits for others to give something back, where its holder can.
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
	deadline := time.NewTimer(patience)
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

// try takes n bytes, if need be from holders that stand still. Otherwise freed is
// closed when there is more, and after again another holder may have stood still for
// long enough.
func (c *claim) try(n int, anyway bool) (ok bool, freed <-chan struct{}, again time.Duration) {
	b := c.budget
	now := time.Now()
	var still []*claim
	defer func() {
		for _, other := range still {
			other.evict(fmt.Sprintf("this client stood still for %v, and the endpoint's %d MB for messages are used up; connect again", stalled, b.limit>>20))
		}
	}()
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.closed {
		return anyway, b.freed, patience
	}
	again = stalled
	for !anyway && b.used+n > b.limit {
		other := b.longestStill(c)
		if other == nil {
			return false, b.freed, again
		}
		if again = stalled - now.Sub(other.moved); again > 0 {
			return false, b.freed, again
		}
		other.drop()
		still = append(still, other)
	}
	if c.held == 0 {
		c.moved = now
	}
	b.used += n
	c.held += n
	b.claims[c] = struct{}{}
	return true, nil, 0
}

// longestStill returns the other holder that has not gone on for the longest time,
// though it could; b.mu is held.
func (b *budget) longestStill(asks *claim) *claim {
	var longest *claim
	for c := range b.claims {
		if c != asks && c.evict != nil && !c.waits && (longest == nil || c.moved.Before(longest.moved)) {
			longest = c
		}
	}
	return longest
}

// goesOn notes that the holder does not stand still.
func (c *claim) goesOn() {
	if c.budget == nil {
		return
	}
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.moved = time.Now()
}

// give returns n bytes.
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

// close returns all, for good.
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
	close(b.freed)
	b.freed = make(chan struct{})
}
