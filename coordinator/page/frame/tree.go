// Package frame tracks the frames of one page and the process of each. It holds our
// isolated worlds in their documents and the refs that snapshots assign to elements, and
// it resolves refs and selectors to elements.
package frame

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
)

// ErrGone reports that a frame, or the document of a call, no longer exists.
var ErrGone = errors.New("the frame has gone")

// Frame is the state of one frame of a page at one moment.
type Frame struct {
	ID      protocol.FrameID
	Parent  protocol.FrameID // empty: the main frame
	Session *cdp.Session     // of the process that renders it
	URL     string
	// Unreachable is the address of what could not be opened: the document is the browser's
	// error page, which has a URL of its own.
	Unreachable string
	// Generation counts the frame's documents.
	Generation int

	// Known: the browser has reported its URL and its child frames.
	Known bool

	world runtime.ExecutionContextID // our isolated world in its document; 0: not created yet
}

// Address is what the browser's address bar shows: for an error page, what it is about.
func (f Frame) Address() string { return cmp.Or(f.Unreachable, f.URL) }

// Entered reports whether our world in the frame's document exists.
func (f Frame) Entered() bool { return f.world != 0 }

// Tree is the frames of one page. The page's events keep it up to date; its methods
// may be called from any goroutine.
type Tree struct {
	main    protocol.FrameID
	session *cdp.Session // of the page itself; frames may have their own
	opts    Options
	similar func(ctx context.Context, label string) string // see OnStale

	mu        sync.Mutex
	frames    frames
	refs      refTable
	worldName string // see ownName and SetBehind
}

// Options are what a tree needs from the page and the browser.
type Options struct {
	Library func() string // defines the functions that [Element.Call] calls, see [Library]
	Flush   func()        // waits until the events received so far are handled
	Refs    *Refs
	// Elsewhere finds the other page that a ref belongs to. It returns the ref's label and
	// that page's URL.
	Elsewhere func(n int) (label, address string, ok bool)
}

// New returns the tree of a page, whose target id is the id of its main frame.
func New(main protocol.FrameID, session *cdp.Session, opts Options) *Tree {
	return &Tree{
		main: main, session: session, opts: opts, refs: newRefTable(), worldName: ownName(worldName),
		frames: frames{main: {ID: main, Session: session}},
	}
}

// Main is the id of the main frame.
func (t *Tree) Main() protocol.FrameID { return t.main }

// URL is the URL of the main frame.
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

// All returns the frames, the main frame first and each parent before its children.
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

// RootOf is the topmost frame of a session; false: it has none, like a worker's session.
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

// Add adds the frames of the browser's response, and keeps newer state from events. It
// reports whether the main frame's URL was unknown before.
func (t *Tree) Add(tree *cdppage.FrameTree) (mainLearnt bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for pending := []*cdppage.FrameTree{tree}; len(pending) > 0; pending = pending[1:] {
		next := pending[0]
		if next == nil || next.Frame == nil {
			continue
		}
		session := t.session
		if parent := t.frames[next.Frame.ParentID]; parent != nil {
			session = parent.Session
		}
		f := t.frames.of(session, next.Frame.ID, next.Frame.ParentID)
		if !f.Known {
			f.Known, f.URL, f.Unreachable = true, next.Frame.URL+next.Frame.URLFragment, next.Frame.UnreachableURL
			mainLearnt = mainLearnt || f.ID == t.main
		}
		pending = append(pending, next.ChildFrames...)
	}
	return mainLearnt
}

// frames are those of a page, by id.
type frames map[protocol.FrameID]*Frame

// of returns a frame, which it adds if it is new.
func (f frames) of(s *cdp.Session, id, parent protocol.FrameID) *Frame {
	if f[id] == nil {
		f[id] = &Frame{ID: id, Parent: parent, Session: s}
	}
	return f[id]
}

// Learn reads the child frames of frames that existed before their session. These are
// frames of other processes, and frames of a page that did not respond when it was
// attached.
func (t *Tree) Learn(ctx context.Context) error {
	t.mu.Lock()
	var unknown []*cdp.Session
	for _, f := range t.frames {
		if !f.Known {
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

// Each calls f for the main frame, then for the others; it skips frames that have gone
// meanwhile.
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

// Attached adds a new frame of a session.
func (t *Tree) Attached(s *cdp.Session, id, parent protocol.FrameID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.frames[id] == nil {
		t.frames.of(s, id, parent).Known = true
	}
}

// AttachedElsewhere sets the session of a frame that has a process of its own.
func (t *Tree) AttachedElsewhere(s *cdp.Session, id, parent protocol.FrameID, url string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.frames.of(s, id, parent)
	f.Known = false
	f.replace(s, url)
	t.refs.dropFrame(id)
}

// replace sets the frame's new document.
func (f *Frame) replace(s *cdp.Session, url string) {
	f.Session, f.URL, f.world = s, url, 0
	f.Generation++
}

// Committed sets a frame's new document, and drops the state of the old one: its
// world, its refs and its child frames.
func (t *Tree) Committed(s *cdp.Session, n *protocol.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.frames.of(s, n.ID, n.ParentID)
	f.Known = true
	f.replace(s, n.URL+n.URLFragment)
	f.Unreachable = n.UnreachableURL
	t.refs.dropFrame(n.ID)
	for id, other := range t.frames {
		if other.Parent == n.ID && other.Session == s {
			t.remove(id)
		}
	}
}

// Moved sets the new URL of a frame's document.
func (t *Tree) Moved(id protocol.FrameID, url string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.frames[id]; f != nil {
		f.URL = url
	}
}

// Detached drops a frame and its descendants.
func (t *Tree) Detached(id protocol.FrameID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id != t.main && t.frames[id] != nil {
		t.remove(id)
	}
}

// SessionEnded drops the frames of a session. A frame that continues in another process
// is attached again.
func (t *Tree) SessionEnded(s *cdp.Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, f := range t.frames {
		if f.Session == s && id != t.main {
			t.remove(id)
		}
	}
}

// remove drops a frame and its descendants; mu is held.
func (t *Tree) remove(id protocol.FrameID) {
	delete(t.frames, id)
	t.refs.dropFrame(id)
	for child, f := range t.frames {
		if f.Parent == id {
			t.remove(child)
		}
	}
}

// WorldsCleared drops the worlds of a session.
func (t *Tree) WorldsCleared(s *cdp.Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.frames {
		if f.Session == s {
			f.world = 0
		}
	}
}
