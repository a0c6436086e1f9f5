package page

import (
	"context"
	"errors"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
)

// frame is one frame of a page; Page.mu guards its fields.
type frame struct {
	id      protocol.FrameID
	parent  protocol.FrameID // empty: the main frame
	session *cdp.Session     // of the process that renders it
	url     string
	learnt  bool                       // what is below it was read or has come by events
	world   runtime.ExecutionContextID // our isolated world in its document; 0: not made yet
	// generation counts the frame's documents, for the snapshot script.
	generation int
}

// addFrames adds a frame tree, keeping what events have told meanwhile; mu is
// held.
func (p *Page) addFrames(tree *cdppage.FrameTree) {
	if tree == nil || tree.Frame == nil {
		return
	}
	f := p.frames[tree.Frame.ID]
	if f == nil {
		f = &frame{id: tree.Frame.ID, parent: tree.Frame.ParentID, session: p.sessionOf(tree.Frame.ParentID)}
		p.frames[f.id] = f
	}
	if !f.learnt {
		f.learnt, f.url = true, tree.Frame.URL+tree.Frame.URLFragment
		if f.id == p.mainID() {
			p.documentLearnt(f.url)
		}
	}
	for _, child := range tree.ChildFrames {
		p.addFrames(child)
	}
}

// sessionOf returns the session that a child of the frame starts with; mu is
// held.
func (p *Page) sessionOf(id protocol.FrameID) *cdp.Session {
	if f := p.frames[id]; f != nil {
		return f.session
	}
	return p.session
}

// commit records a frame's new document; mu is held. What belonged to the old
// one goes: its world and its refs.
func (p *Page) commit(session *cdp.Session, n *protocol.Frame) {
	f := p.frames[n.ID]
	if f == nil {
		f = &frame{id: n.ID, parent: n.ParentID}
		p.frames[n.ID] = f
	}
	f.session, f.learnt = session, true
	f.url, f.world = n.URL+n.URLFragment, 0
	f.generation++
	p.refs.dropFrame(n.ID)
	for id, other := range p.frames {
		if other.parent == n.ID && other.session == session {
			p.removeFrame(id)
		}
	}
	if n.ID == p.mainID() {
		p.pending, p.loaded, p.parsed = "", false, false
		p.chooser = nil
		p.commits++
		p.lost = false
		if p.ended == ErrCrashed {
			p.ended = nil
		}
	}
}

// removeFrame drops a frame and what is below it; mu is held.
func (p *Page) removeFrame(id protocol.FrameID) {
	delete(p.frames, id)
	p.refs.dropFrame(id)
	for child, f := range p.frames {
		if f.parent == id {
			p.removeFrame(child)
		}
	}
}

// childFrames returns the frames directly below one; mu is held.
func (p *Page) childFrames(id protocol.FrameID) []*frame {
	var children []*frame
	for _, f := range p.frames {
		if f.parent == id && f.id != id {
			children = append(children, f)
		}
	}
	return children
}

// frameStartTimeout bounds handing the commands for a new frame to the writer.
const frameStartTimeout = time.Second

// enableFrame turns on the events of a frame in another process. It is called
// by the event loop and waits for no reply.
func (p *Page) enableFrame(s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), frameStartTimeout)
	defer cancel()
	if err := p.enable(ctx, s); err != nil {
		p.browser.log.Debug("page: a frame has gone before its events were on", "err", err)
	}
	p.reapply(ctx, s)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.untold(s)
}

// learnFrames reads what is below frames that were there before their session
// was: those of other processes, and those of a page that did not answer when it
// was attached to.
func (p *Page) learnFrames(ctx context.Context) error {
	p.mu.Lock()
	var unknown []*cdp.Session
	for _, f := range p.frames {
		if !f.learnt {
			unknown = append(unknown, f.session)
		}
	}
	p.mu.Unlock()
	for _, s := range unknown {
		tree, err := protocol.Call(ctx, s, cdppage.GetFrameTree, protocol.Empty{})
		if errors.Is(err, cdp.ErrSessionGone) {
			continue
		}
		if err != nil {
			return err
		}
		p.mu.Lock()
		p.addFrames(tree.FrameTree)
		p.mu.Unlock()
	}
	return nil
}
