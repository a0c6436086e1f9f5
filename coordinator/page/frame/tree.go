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
	// Generation identifies the frame's document: no other document of the page has the same.
	// A document that the browser brings back from its page cache keeps its generation.
	Generation int

	// Known: the browser has reported its child frames, and what it calls its document.
	Known bool

	// Origin is that of the document, as the browser reports it; empty: not read yet, see [Tree.Origin].
	Origin string

	loader protocol.LoaderID          // what the browser calls the document; empty: not known
	world  runtime.ExecutionContextID // our isolated world in its document; 0: not created yet
}

// Address is what the browser's address bar shows: for an error page, what it is about.
func (f Frame) Address() string { return cmp.Or(f.Unreachable, f.URL) }

// Entered reports whether our world in the frame's document exists.
func (f Frame) Entered() bool { return f.world != 0 }

// Single reports whether our world exists in one document only.
func (t *Tree) Single() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	entered := 0
	for _, f := range t.frames {
		if f.Entered() {
			entered++
		}
	}
	return entered == 1
}

// Tree is the frames of one page. The page's events keep it up to date; its methods
// may be called from any goroutine.
type Tree struct {
	session *cdp.Session // of the page itself; frames may have their own
	opts    Options
	similar func(ctx context.Context, label string) string // see SuggestWith

	mu sync.Mutex // guards the fields that follow
	// main is the main frame. It becomes another one when a prerendered document replaces it, and
	// when the history leads back: each has the main frame that it was loaded in.
	main        protocol.FrameID
	frames      map[protocol.FrameID]*Frame
	generations int // counts the documents
	// cached are documents that no frame shows. The page cache may bring them back.
	cached    map[protocol.LoaderID]cachedDocument
	roots     map[protocol.FrameID]closedRoots
	refs      refTable
	worldName string                     // see ownName and SetBehind
	bounds    func(address string) error // see Limit; nil: none
}

// cachedDocument is what remains valid of a document that comes back from the page cache: the
// browser freezes it, with all worlds in it.
type cachedDocument struct {
	generation int
	world      runtime.ExecutionContextID
}

// maxCached bounds how many documents are remembered; the page cache has fewer.
const maxCached = 1000

// Options are what a tree needs from the page and the browser.
type Options struct {
	Library func() string // defines the functions that [Element.Call] calls, see [Library]
	Flush   func()        // waits until the events received so far are handled
	Refs    *Refs
	// Elsewhere finds the other page that a ref belongs to. It returns the ref's label and
	// that page's URL.
	Elsewhere func(n int) (label, address string, ok bool)
	Reported  func() string // the page's URL as the browser reports it; empty: none
}

// New returns the tree of a page. The id of its main frame is a guess until the browser has
// reported it.
func New(main protocol.FrameID, session *cdp.Session, opts Options) *Tree {
	return &Tree{
		main: main, session: session, opts: opts, refs: newRefTable(), worldName: ownName(worldName),
		frames: map[protocol.FrameID]*Frame{
			main: {ID: main, Session: session},
		}, cached: map[protocol.LoaderID]cachedDocument{}, roots: map[protocol.FrameID]closedRoots{},
	}
}

// Main is the id of the main frame. It may differ from the id of the page's target.
func (t *Tree) Main() protocol.FrameID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.main
}

// Shows reports whether the main frame shows the document with that loader id.
func (t *Tree) Shows(document protocol.LoaderID) bool {
	return document != "" && t.Document() == document
}

// Document is the loader id of the main frame's document; empty: it is not known.
func (t *Tree) Document() protocol.LoaderID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frames[t.main].loader
}

// URL is the URL of the main frame.
func (t *Tree) URL() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frames[t.main].URL
}

// PageURL is that URL. For a page that has not responded yet, it is the one that the browser reports.
func (t *Tree) PageURL() string { return cmp.Or(t.URL(), t.opts.Reported()) }

// Flush waits until the events received so far are handled.
func (t *Tree) Flush() { t.opts.Flush() }

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

// Limit makes the documents in child frames unreachable whose address check refuses, with all
// that is in them.
func (t *Tree) Limit(check func(address string) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bounds = check
}

// BoundsError reports that a frame shows a document that [Tree.Limit] has made unreachable.
type BoundsError struct{ Err error }

func (e *BoundsError) Error() string { return "a frame is out of bounds: " + e.Err.Error() }
func (e *BoundsError) Unwrap() error { return e.Err }

// refused reports why a frame is unreachable; nil: it is not. What has no origin of its own is
// judged by the frames around it. t.mu is held.
func (t *Tree) refused(f *Frame) error {
	for ; t.bounds != nil && f != nil && f.ID != t.main; f = t.frames[f.Parent] {
		err := t.bounds(f.URL)
		if f.URL == "" {
			err = errors.New("the browser has not reported its address yet: try again")
		}
		if err != nil {
			return &BoundsError{err}
		}
	}
	return nil
}

// IsReachable reports whether a frame exists, and is within [Tree.Limit].
func (t *Tree) IsReachable(id protocol.FrameID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.frames[id]
	return f != nil && t.refused(f) == nil
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

// Add adds the frames of a session's response, and keeps newer state from events. It reports
// whether the main frame's URL was unknown before.
func (t *Tree) Add(s *cdp.Session, tree *cdppage.FrameTree) (mainLearnt bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tree == nil || tree.Frame == nil {
		return false
	}
	if s == t.session && tree.Frame.ID != t.main && !t.frames[t.main].Known {
		t.become(tree.Frame.ID)
	}
	if root := t.frames[tree.Frame.ID]; root == nil || root.Session != s || root.loader != "" &&
		root.loader != tree.Frame.LoaderID {
		return false // an event has reported a newer document
	}
	for pending := []*cdppage.FrameTree{tree}; len(pending) > 0; pending = pending[1:] {
		next := pending[0]
		if next == nil || next.Frame == nil {
			continue
		}
		f := t.ensureFrame(s, next.Frame.ID, next.Frame.ParentID)
		if !f.Known && f.Session == s {
			f.Known = true
			if f.loader == "" {
				mainLearnt = mainLearnt || f.ID == t.main
				f.URL, f.Unreachable = next.Frame.URL+next.Frame.URLFragment, next.Frame.UnreachableURL
				t.identify(f, next.Frame.LoaderID)
			}
		}
		pending = append(pending, next.ChildFrames...)
	}
	return mainLearnt
}

// ensureFrame returns a frame, which it adds if it is new; mu is held.
func (t *Tree) ensureFrame(s *cdp.Session, id, parent protocol.FrameID) *Frame {
	if t.frames[id] == nil {
		t.generations++
		t.frames[id] = &Frame{ID: id, Parent: parent, Session: s, Generation: t.generations}
	}
	return t.frames[id]
}

// become makes another frame the main one; mu is held.
func (t *Tree) become(main protocol.FrameID) {
	t.remove(t.main)
	t.main = main
	t.ensureFrame(t.session, main, "")
}

// identify notes what the browser calls a frame's document. One that comes back has its worlds
// and refs; mu is held.
func (t *Tree) identify(f *Frame, loader protocol.LoaderID) {
	f.loader = loader
	if before, back := t.cached[loader]; back && f.world == 0 {
		f.Generation, f.world = before.generation, before.world
	}
}

// leave notes that a frame no longer shows its document; mu is held.
func (t *Tree) leave(f *Frame) {
	if f.loader == "" || f.world == 0 {
		return
	}
	if len(t.cached) >= maxCached {
		clear(t.cached)
	}
	t.cached[f.loader] = cachedDocument{f.Generation, f.world}
}

// Learn reads the frames that no event has reported. These are frames in other processes, frames
// of a page that did not respond when it was attached, and those of a document from the page
// cache.
func (t *Tree) Learn(ctx context.Context) error {
	t.mu.Lock()
	var unknown []*cdp.Session
	for _, f := range t.frames {
		if !f.Known && !slices.Contains(unknown, f.Session) {
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
		t.opts.Flush() // the response may belong to a document whose event is still in the queue
		t.Add(s, tree.FrameTree)
	}
	return nil
}

// ForEach calls f for the main frame, then for the others; it skips frames that have gone
// meanwhile.
func (t *Tree) ForEach(ctx context.Context, f func(protocol.FrameID) error) error {
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
	t.ensureFrame(s, id, parent)
}

// AttachedElsewhere sets the session of a frame that has a process of its own.
func (t *Tree) AttachedElsewhere(s *cdp.Session, id, parent protocol.FrameID, url string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.ensureFrame(s, id, parent)
	f.Known = false
	t.replace(f, s, url, "")
}

// replace sets the frame's new document; mu is held.
func (t *Tree) replace(f *Frame, s *cdp.Session, url string, loader protocol.LoaderID) {
	t.leave(f)
	t.generations++
	f.Session, f.URL, f.world, f.Origin, f.Generation = s, url, 0, "", t.generations
	t.identify(f, loader)
}

// Committed sets a frame's new document, and drops the state of the old one: its world, its
// refs and its child frames. A restored document has its own child frames already, which only
// the browser knows.
func (t *Tree) Committed(s *cdp.Session, n *protocol.Frame, restored bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s == t.session && n.ParentID == "" && n.ID != t.main {
		t.become(n.ID)
	}
	f := t.ensureFrame(s, n.ID, n.ParentID)
	f.Known = !restored
	t.replace(f, s, n.URL+n.URLFragment, n.LoaderID)
	f.Unreachable = n.UnreachableURL
	for id, other := range t.frames {
		if other.Parent == n.ID && other.Session == s {
			t.remove(id)
		}
	}
	t.refs.prune(t.frames)
}

// SetURL sets the new URL of a frame's document.
func (t *Tree) SetURL(id protocol.FrameID, url string) {
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
	if id != t.main {
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
	f := t.frames[id]
	if f == nil {
		return
	}
	t.leave(f)
	delete(t.frames, id)
	delete(t.roots, id)
	for child, f := range t.frames {
		if f.Parent == id {
			t.remove(child)
		}
	}
}

// WorldsCleared drops the worlds of a session. Those of a document in the page cache live on.
func (t *Tree) WorldsCleared(s *cdp.Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.frames {
		if f.Session == s {
			t.leave(f)
			f.world = 0
		}
	}
}
