package page

import (
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/pick"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/coordinator/page/sources"
)

// changesShare is the divisor of a call's timeout that bounds a comparison of the page: an
// action's answer does not wait long for it.
const changesShare = 10

// newPage composes a page and its capabilities.
func (b *Browser) newPage(id target.ID, session *cdp.Session) *Page {
	c := b.connection
	p := &Page{id: id, connection: c, state: &state{}, session: session}
	page := host{p}
	// The target id usually is the id of the main frame.
	p.frames = frame.New(protocol.FrameID(id), session, frame.Options{
		Library: library, Flush: c.flush, Refs: c.opts.Refs,
		Elsewhere: func(n int) (label, address string, ok bool) { return b.refElsewhere(p, n) },
	})
	p.reader = snapshot.New(page, p.frames, c.opts.CallTimeout/changesShare)
	p.input = input.New(page, session, p.frames, input.Options{ActionTimeout: c.opts.ActionTimeout, CallTimeout: c.opts.CallTimeout})
	p.emulation = emulation.New(page, emulation.Options{Conn: c.conn, Viewport: c.opts.Viewport, Network: c.router.Conditions})
	p.history = history.New(page, history.Options{
		Session: session, Frames: p.frames, ConsoleSize: c.opts.ConsoleSize, NetworkSize: c.opts.NetworkSize,
		Flush: c.flush, Go: c.running.Go, Logger: c.log,
	})
	p.guard = guard.New(page, guard.Options{Conn: c.conn, CallTimeout: c.opts.CallTimeout, Go: c.running.Go, Logger: c.log})
	p.screen = capture.New(page, session, p.frames, c.opts.NavigateTimeout)
	p.sources = sources.New(page, p.history.Network, c.opts.Folders, c.log)
	p.picker = pick.New(page, pick.Options{Session: session, Frames: p.frames, Reader: p.reader, Screen: p.screen, Sources: p.sources})
	p.scripts = &scripts{c, p.state, session, p.frames, p.input}
	p.operations = &operations{
		connection: c, state: p.state, session: session, frames: p.frames, guard: p.guard, screen: p.screen, sources: p.sources,
		pauses:    &pauses{frames: p.frames, scripts: map[scriptKey]string{}},
		elsewhere: func() (string, bool, *Dialog) { return b.dialogElsewhere(p) },
		calls:     map[*operation]struct{}{},
	}
	p.observer = &observer{
		connection: c, state: p.state, id: string(id), session: session, frames: p.frames, input: p.input,
		history: p.history, guard: p.guard, sources: p.sources,
	}
	return p
}

// attachShare is the divisor of a call's timeout that bounds the page's response while
// attaching: the rest is left for the calls that wait for the attachment.
const attachShare = 5

// enable turns on the domains of a session without waiting for the replies.
func (p *Page) enable(ctx context.Context, session *cdp.Session) error {
	for _, method := range []string{"Page.enable", "Inspector.enable", "Runtime.enable", "Log.enable"} {
		if _, err := session.Start(ctx, method, nil); err != nil {
			return err
		}
	}
	if err := history.Enable(ctx, session); err != nil {
		return err
	}
	if err := history.KeepBodies(ctx, session); err != nil {
		return err
	}
	// This attaches to frames of other processes. They are not paused at their start here,
	// so a coordinator that hangs blocks no page.
	if _, err := session.Start(ctx, "Target.setAutoAttach", target.SetAutoAttachParams{AutoAttach: true, Flatten: new(true)}); err != nil {
		return err
	}
	return p.connection.router.Admit(ctx, host{p}, session)
}

// readFrames reads the frames that existed before the first event.
func (p *Page) readFrames(ctx context.Context) error {
	ctx, end, err := p.operations.begin(ctx, "attaching to the page", p.connection.opts.CallTimeout/attachShare)
	if err != nil {
		return err
	}
	defer end()
	tree, err := protocol.Call(ctx, p.session, cdppage.GetFrameTree, protocol.Empty{})
	if err != nil {
		return err
	}
	p.learnFrames(tree.FrameTree)
	past, err := p.history.Network.Ask(ctx) // it asks the main frame
	if err != nil {
		return err
	}
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.state.commits == 0 { // a later event may be newer
		p.state.loaded = p.state.loaded || past.State == "complete"
		p.state.parsed = p.state.parsed || past.State != "loading"
	}
	p.history.Network.LearnFirst(past)
	p.state.changed.Notify()
	return nil
}

func (p *Page) learnFrames(tree *cdppage.FrameTree) {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.frames.Add(p.session, tree) {
		p.history.AddressKnown(p.frames.URL())
	}
}
