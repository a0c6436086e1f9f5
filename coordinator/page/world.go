package page

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
)

// worldName is what debuggers show for our isolated world. In a tab that was in
// the background when it was first acted on, it says so: such a tab believes that
// it is visible, and other connections, which see the names of worlds, must not
// take it for the one that the human sees.
const (
	worldName  = "browser-coordinator"
	behindName = worldName + " in the background"
)

// world returns the id of our isolated world in a frame's document. Scripts run
// there so that neither the page's patched prototypes nor its content security
// policy get in the way, and the page does not see them.
func (p *Page) world(ctx context.Context, id protocol.FrameID) (*cdp.Session, runtime.ExecutionContextID, error) {
	p.mu.Lock()
	f := p.frames[id]
	if f == nil {
		p.mu.Unlock()
		return nil, 0, errFrameGone
	}
	session, world, generation := f.session, f.world, f.generation
	name := worldName
	if p.behind {
		name = behindName
	}
	p.mu.Unlock()
	if world != 0 {
		return session, world, nil
	}
	// Universal access lets it see through frames of the same process to reckon
	// where an element is in the window.
	r, err := protocol.Call(ctx, session, cdppage.CreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{
		FrameID: id, WorldName: name, GrantUniveralAccess: new(true),
	})
	if err != nil {
		return nil, 0, err
	}
	// Not waited for: what is run in the world comes behind it.
	_, err = session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{Expression: library(), ContextID: r.ExecutionContextID, Silent: new(true)})
	if err != nil {
		return nil, 0, err
	}
	p.browser.flush()
	p.mu.Lock()
	f = p.frames[id]
	switch {
	case f == nil || f.session != session:
		p.mu.Unlock()
		return nil, 0, errFrameGone
	case f.generation != generation: // it may be the world of the document before
		p.mu.Unlock()
		return p.world(ctx, id)
	}
	f.world = r.ExecutionContextID
	p.mu.Unlock()
	return session, r.ExecutionContextID, nil
}

// inWorld asks something of our world in a frame's document, and of a new one where
// the browser does not know that any more: what is asked may meet the next document,
// and has to be right there too, also when it has begun in the one before.
func (p *Page) inWorld(ctx context.Context, id protocol.FrameID, ask func(*cdp.Session, runtime.ExecutionContextID) error) error {
	for tries := 1; ; tries++ {
		session, world, err := p.world(ctx, id)
		if err == nil {
			err = ask(session, world)
		}
		// A page that moves may be on its way still when it is asked again.
		if !noContext(err) || tries == 4 {
			return err
		}
		p.forgetWorld(id, world)
	}
}

// fixed evaluates an expression of ours in our world of the main document, where
// the page can neither replace what it names nor note it, and decodes its value.
func (p *Page) fixed(ctx context.Context, expression string, value any) error {
	return p.inWorld(ctx, p.mainID(), func(session *cdp.Session, world runtime.ExecutionContextID) error {
		r, err := protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{
			Expression: expression, ContextID: world, ReturnByValue: new(true), Silent: new(true),
		})
		if err != nil || r.Result == nil || len(r.Result.Value) == 0 {
			return err
		}
		return json.Unmarshal(r.Result.Value, value)
	})
}

// forgetWorld has a frame's world be made anew, unless that has been done.
func (p *Page) forgetWorld(id protocol.FrameID, world runtime.ExecutionContextID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[id]; f != nil && f.world == world {
		f.world = 0
	}
}

// noContext recognises the browser's words for a context that has gone, and for a
// document that went to another process while it was asked.
func noContext(err error) bool {
	var refusal *cdp.Error
	return errors.As(err, &refusal) && (strings.Contains(refusal.Message, "context with") ||
		strings.Contains(refusal.Message, "Cannot find context") || strings.Contains(refusal.Message, "navigated or closed"))
}

var errFrameGone = errors.New("the frame has gone")
