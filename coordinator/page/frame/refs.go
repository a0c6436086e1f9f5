package frame

import (
	"strconv"
	"strings"
	"sync/atomic"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
)

// refTable holds the frame that each ref is in; Tree.mu guards it. The elements
// themselves are known to the snapshot script in that frame's document. Numbers
// rise for as long as their [Refs] do, so a ref of an older document, or of another
// page, can never mean an element of this one.
type refTable struct {
	entries map[int]refEntry
}

// Refs counts the refs that snapshots give out, over all pages and browsers that
// share it.
type Refs struct{ last atomic.Int64 }

// reach makes n a number that is taken. Two pages that are read at the same time may
// take the same numbers; each page's own are never taken twice.
func (r *Refs) reach(n int) {
	for {
		last := r.last.Load()
		if int64(n) <= last || r.last.CompareAndSwap(last, int64(n)) {
			return
		}
	}
}

type refEntry struct {
	frame protocol.FrameID
	label string // for messages, for example: button "Save"
	stale bool   // its document has gone; kept for the label
}

// maxStale bounds how many refs of gone documents keep their labels.
const maxStale = 5000

func newRefTable() refTable { return refTable{entries: map[int]refEntry{}} }

// Label returns what a ref names, where its document is still there.
func (t *Tree) Label(n int) (label string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.refs.entries[n]
	return e.label, ok && !e.stale
}

// Ref is the number of an element, and what the element is.
type Ref struct {
	Number int
	Label  string
}

// LastRef is the last number that was given out.
func (t *Tree) LastRef() int { return int(t.opts.Refs.last.Load()) }

// AddRefs adds refs that were given out in a world of a frame's document; 0: whichever
// the frame has. ErrGone: the document went meanwhile, and so did its refs.
func (t *Tree) AddRefs(id protocol.FrameID, world runtime.ExecutionContextID, last int, refs []Ref) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opts.Refs.reach(last)
	if f := t.frames[id]; f == nil || world != 0 && f.world != world {
		return ErrGone
	}
	for _, ref := range refs {
		t.refs.entries[ref.Number] = refEntry{frame: id, label: ref.Label}
	}
	return nil
}

// dropFrame marks the refs of a frame whose document has gone.
func (t *refTable) dropFrame(id protocol.FrameID) {
	stale := 0
	for n, e := range t.entries {
		if e.frame == id {
			e.stale = true
			t.entries[n] = e
		}
		if e.stale {
			stale++
		}
	}
	if stale > maxStale {
		for n, e := range t.entries {
			if e.stale {
				delete(t.entries, n)
			}
		}
	}
}

// ParseRef reads "e12", also in the forms that agents copy: "[ref=e12]",
// "ref=e12" and "f1e12" with a frame in front.
func ParseRef(s string) (int, bool) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	s = strings.TrimPrefix(s, "ref=")
	if rest, ok := strings.CutPrefix(s, "f"); ok {
		if i := strings.IndexByte(rest, 'e'); i > 0 && digits(rest[:i]) {
			s = rest[i:]
		}
	}
	rest, ok := strings.CutPrefix(s, "e")
	if !ok || !digits(rest) {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil
}

func digits(s string) bool {
	if s == "" {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
