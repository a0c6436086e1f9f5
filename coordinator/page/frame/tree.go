// Package frame holds the frames of one page: which there are and which process
// renders each, our isolated world in their documents, the refs that snapshots
// give to elements there, and the elements that a ref or a selector leads to.
package frame

import (
	"context"
	"errors"
	"slices"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
)

// ErrGone reports that a frame, or the document that was asked, is no longer there.
var ErrGone = errors.New("the frame has gone")

// Frame is one frame of a page, as it is at one moment.
type Frame struct {
	ID      protocol.FrameID
	Parent  protocol.FrameID // empty: the main frame
	Session *cdp.Session     // of the process that renders it
	URL     string
	// Generation counts the frame's documents.
	Generation int

	known bool                       // what is below it was read or has come by events
	world runtime.ExecutionContextID // our isolated world in its document; 0: not made yet
}

// Tree is the frames of one page. The page's events keep it up to date; its methods
// may be called from any goroutine.
type Tree struct {
	main    protocol.FrameID
	session *cdp.Session // of the page itself; frames may have their own
	opts    Options
	similar func(ctx context.Context, label string) string // see OnStale

	mu     sync.Mutex
	frames map[protocol.FrameID]*Frame
	refs   refTable
	behind bool // see SetBehind
}

// Options are what a tree needs of the page and the browser around it.
type Options struct {
	Library func() string // defines the functions that [Element.Call] calls, see [Library]
	Flush   func()        // waits until the events that have come so far are handled
	Refs    *Refs
	// Elsewhere finds the other page that a ref is of: what it names there, and that
	// page's address.
	Elsewhere func(n int) (label, address string, ok bool)
}

// New returns the tree of a page, whose target id is the id of its main frame.
func New(main protocol.FrameID, session *cdp.Session, opts Options) *Tree {
	return &Tree{
		main: main, session: session, opts: opts, refs: newRefTable(),
		frames: map[protocol.FrameID]*Frame{main: {ID: main, Session: session}},
	}
}

// Main is the id of the main frame.
func (t *Tree) Main() protocol.FrameID { return t.main }

// URL is the address that the main frame shows.
func (t *Tree) URL() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frames[t.main].URL
}

// Frame returns a frame; false: it has gone.
func (t *Tree) Frame(id protocol.FrameID) (Frame, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.frames[id]
	if f == nil {
		return Frame{}, false
	}
	return *f, true
}

// All returns the frames, the main frame first and each before those below it.
func (t *Tree) All() []Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := []Frame{*t.frames[t.main]}
	for i := 0; i < len(all); i++ {
		for _, f := range t.frames {
			if f.Parent == all[i].ID && f.ID != all[i].ID {
				all = append(all, *f)
			}
		}
	}
	return all
}

// Sessions are those of the page and of its frames in other processes, the page's
// own first.
func (t *Tree) Sessions() []*cdp.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	sessions := []*cdp.Session{t.session}
	for _, f := range t.frames {
		if !slices.Contains(sessions, f.Session) {
			sessions = append(sessions, f.Session)
		}
	}
	return sessions
}

// RootOf is the topmost frame of a session; false: it has none, as a worker's.
func (t *Tree) RootOf(s *cdp.Session) (Frame, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.frames {
		if parent := t.frames[f.Parent]; f.Session == s && (parent == nil || parent.Session != s) {
			return *f, true
		}
	}
	return Frame{}, false
}

// Add adds what the browser says is there, keeping what events have told meanwhile.
// It reports whether the main frame's address is known only now.
func (t *Tree) Add(tree *cdppage.FrameTree) (mainLearnt bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.add(tree)
}

func (t *Tree) add(tree *cdppage.FrameTree) (mainLearnt bool) {
	if tree == nil || tree.Frame == nil {
		return false
	}
	f := t.frames[tree.Frame.ID]
	if f == nil {
		session := t.session
		if parent := t.frames[tree.Frame.ParentID]; parent != nil {
			session = parent.Session
		}
		f = &Frame{ID: tree.Frame.ID, Parent: tree.Frame.ParentID, Session: session}
		t.frames[f.ID] = f
	}
	if !f.known {
		f.known, f.URL = true, tree.Frame.URL+tree.Frame.URLFragment
		mainLearnt = f.ID == t.main
	}
	for _, child := range tree.ChildFrames {
		t.add(child)
	}
	return mainLearnt
}

// Learn reads what is below frames that were there before their session was: those
// of other processes, and those of a page that did not answer when it was attached
// to.
func (t *Tree) Learn(ctx context.Context) error {
	t.mu.Lock()
	var unknown []*cdp.Session
	for _, f := range t.frames {
		if !f.known {
			unknown = append(unknown, f.Session)
		}
	}
	t.mu.Unlock()
	for _, s := range unknown {
		tree, err := protocol.Call(ctx, s, cdppage.GetFrameTree, protocol.Empty{})
		if errors.Is(err, cdp.ErrSessionGone) {
			continue
		}
		if err != nil {
			return err
		}
		t.Add(tree.FrameTree)
	}
	return nil
}

// Each calls f for the main frame, then for the others; frames that go meanwhile
// are left out.
func (t *Tree) Each(ctx context.Context, f func(protocol.FrameID) error) error {
	if err := t.Learn(ctx); err != nil {
		return err
	}
	for i, frame := range t.All() {
		if err := f(frame.ID); err != nil && (i == 0 || !Vanished(err)) {
			return err
		}
	}
	return nil
}

// Attached notes a new frame of a session.
func (t *Tree) Attached(s *cdp.Session, id, parent protocol.FrameID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.frames[id] == nil {
		t.frames[id] = &Frame{ID: id, Parent: parent, Session: s, known: true}
	}
}

// AttachedElsewhere gives a frame the session of its own process.
func (t *Tree) AttachedElsewhere(s *cdp.Session, id, parent protocol.FrameID, url string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.frames[id]
	if f == nil {
		f = &Frame{ID: id, Parent: parent}
		t.frames[id] = f
	}
	f.Session, f.URL, f.world, f.known = s, url, 0, false
	f.Generation++
	t.refs.dropFrame(id)
}

// Committed notes a frame's new document. What belonged to the old one goes: its
// world, its refs and the frames in it.
func (t *Tree) Committed(s *cdp.Session, n *protocol.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.frames[n.ID]
	if f == nil {
		f = &Frame{ID: n.ID, Parent: n.ParentID}
		t.frames[n.ID] = f
	}
	f.Session, f.known = s, true
	f.URL, f.world = n.URL+n.URLFragment, 0
	f.Generation++
	t.refs.dropFrame(n.ID)
	for id, other := range t.frames {
		if other.Parent == n.ID && other.Session == s {
			t.remove(id)
		}
	}
}

// Moved notes that a frame's document has another address.
func (t *Tree) Moved(id protocol.FrameID, url string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.frames[id]; f != nil {
		f.URL = url
	}
}

// Detached drops a frame and those below it.
func (t *Tree) Detached(id protocol.FrameID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id != t.main && t.frames[id] != nil {
		t.remove(id)
	}
}

// SessionEnded drops the frames of a session: one that goes on in another process is
// attached to again.
func (t *Tree) SessionEnded(s *cdp.Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, f := range t.frames {
		if f.Session == s && id != t.main {
			t.remove(id)
		}
	}
}

// remove drops a frame and what is below it; mu is held.
func (t *Tree) remove(id protocol.FrameID) {
	delete(t.frames, id)
	t.refs.dropFrame(id)
	for child, f := range t.frames {
		if f.Parent == id {
			t.remove(child)
		}
	}
}

// WorldsCleared notes that a session's worlds have gone.
func (t *Tree) WorldsCleared(s *cdp.Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.frames {
		if f.Session == s {
			f.world = 0
		}
	}
}
