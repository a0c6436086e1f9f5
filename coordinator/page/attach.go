package page

import (
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/webmcp"
)

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
	if err := webmcp.Enable(ctx, session); err != nil {
		return err
	}
	// This attaches to frames of other processes. They are not paused at their start here,
	// so a coordinator that hangs blocks no page.
	params := target.SetAutoAttachParams{AutoAttach: true, Flatten: new(true)}
	if _, err := session.Start(ctx, target.CommandSetAutoAttach, params); err != nil {
		return err
	}
	return p.browser.router.Admit(ctx, p.emulation, session)
}

// readFrames reads the frames that existed before the first event.
func (p *Page) readFrames(ctx context.Context) error {
	ctx, end, err := p.begin(ctx, call{operation: "attaching to the page", timeout: p.browser.opts.attachTime()})
	if err != nil {
		return err
	}
	defer end()
	tree, err := protocol.Call(ctx, p.session, cdppage.GetFrameTree, protocol.Empty{})
	if err != nil {
		return err
	}
	if p.frames.Add(p.session, tree.FrameTree) {
		p.history.AddressKnown(p.frames.URL())
	}
	report, err := p.history.Network.Ask(ctx) // it asks the main frame
	if err != nil {
		return err
	}
	p.life.Attach(report.State != "loading", report.State == "complete")
	p.history.Network.LearnFirst(report)
	return nil
}
