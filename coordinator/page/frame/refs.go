package frame

import (
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
)

// refTable holds the frame of each ref; Tree.mu guards it. The snapshot script in that
// frame's document holds the elements themselves. Numbers only rise while their
// [Refs] exist, so a ref of an older document, or of another page, never matches an
// element of this one. It may be given to one that is the same, in the next document of a site:
// then it is of each of them, of which one is shown.
type refTable struct {
	entries map[int][]refEntry
}

// entry is that of the document which is shown, or the last one.
func (t *refTable) entry(n int, frames map[protocol.FrameID]*Frame) (last refEntry, ok bool) {
	for _, e := range t.entries[n] {
		if last, ok = e, true; !e.isStale(frames) {
			return e, true
		}
	}
	return last, ok
}

// Refs counts the refs that snapshots assign, over all pages and browsers that
// share it.
type Refs struct{ last atomic.Int64 }

// Last is the last assigned number.
func (r *Refs) Last() int { return int(r.last.Load()) }

// Skip leaves out so many numbers.
func (r *Refs) Skip(n int) { r.last.Add(int64(n)) }

// reach marks all numbers up to n as used. Two pages that are read at the same time may
// use the same numbers; within a page, each number is used once.
func (r *Refs) reach(n int) {
	for {
		last := r.last.Load()
		if int64(n) <= last || r.last.CompareAndSwap(last, int64(n)) {
			return
		}
	}
}

type refEntry struct {
	frame      protocol.FrameID
	generation int    // of its document, as Frame.Generation
	label      string // for messages, for example: button "Save"
}

// isStale reports whether the ref's document is not shown: it has gone, or is in the page cache.
func (e refEntry) isStale(frames map[protocol.FrameID]*Frame) bool {
	f := frames[e.frame]
	return f == nil || f.Generation != e.generation
}

// maxStale bounds how many refs of documents that are not shown are kept.
const maxStale = 5000

func newRefTable() refTable { return refTable{entries: map[int][]refEntry{}} }

// Label returns the label of a ref whose document still exists.
func (t *Tree) Label(n int) (label string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.refs.entry(n, t.frames)
	return e.label, ok && !e.isStale(t.frames)
}

// Ref is the number and the label of an element.
type Ref struct {
	Number int
	Label  string
}

// Refs counts the refs of the tree.
func (t *Tree) Refs() *Refs { return t.opts.Refs }

// AddRefs adds refs, or their new labels, that a snapshot has given out in a world of a frame's document;
// world 0 means the
// frame's current one. ErrGone: the document and its refs have gone meanwhile.
func (t *Tree) AddRefs(id protocol.FrameID, world runtime.ExecutionContextID, last int, refs []Ref) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opts.Refs.reach(last)
	f := t.frames[id]
	if f == nil || world != 0 && f.world != world {
		return ErrGone
	}
	for _, ref := range refs {
		entry := refEntry{id, f.Generation, ref.Label}
		of := t.refs.entries[ref.Number]
		if index := slices.IndexFunc(of, func(e refEntry) bool {
			return e.frame == id && e.generation == f.Generation
		}); index >= 0 {
			of[index] = entry
		} else {
			t.refs.entries[ref.Number] = append(of, entry)
		}
	}
	return nil
}

// prune drops the refs of documents that are not shown, if they have become many.
func (t *refTable) prune(frames map[protocol.FrameID]*Frame) {
	isStale := func(e refEntry) bool { return e.isStale(frames) }
	stale := 0
	for _, of := range t.entries {
		for _, e := range of {
			if isStale(e) {
				stale++
			}
		}
	}
	if stale <= maxStale {
		return
	}
	for n, of := range t.entries {
		if of = slices.DeleteFunc(of, isStale); len(of) == 0 {
			delete(t.entries, n)
		} else {
			t.entries[n] = of
		}
	}
}

// refPattern matches "e12", also in the forms that agents copy: "[ref=e12]", "ref=e12" "@e12" and
// "f1e12" with a frame in front.
var refPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@?\[?(?:ref=)?(?:f\d+)?e(\d+)\]?$`)
})

// ParseRef reads the number of a ref; ok is false if the text is no ref.
func ParseRef(s string) (n int, ok bool) {
	match := refPattern().FindStringSubmatch(s)
	if match == nil {
		return 0, false
	}
	n, err := strconv.Atoi(match[1])
	return n, err == nil
}
