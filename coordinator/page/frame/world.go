package frame

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
)

// The names that debuggers show for our isolated world. In a tab that was in the
// background at its first action, the name says so: such a tab believes that it is
// visible, and other connections, which see the names of worlds, must not take it
// for the one that the user sees.
const (
	WorldName  = "browser-coordinator"
	BehindName = WorldName + " in the background"
)

// SetBehind has worlds that are made from now on say that the page is in the
// background, and makes such a world in the main frame. The response is waited for:
// a tab that was never shown takes the zoom of its site only now, and a mouse event
// that came first would land elsewhere.
func (t *Tree) SetBehind(ctx context.Context) error {
	t.mu.Lock()
	t.behind = true
	t.mu.Unlock()
	return t.session.Call(ctx, cdppage.CommandCreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{FrameID: t.main, WorldName: BehindName}, nil)
}

// World returns the id of our isolated world in a frame's document. Scripts run
// there so that neither the page's patched prototypes nor its content security
// policy get in the way, and the page does not see them.
func (t *Tree) World(ctx context.Context, id protocol.FrameID) (*cdp.Session, runtime.ExecutionContextID, error) {
	t.mu.Lock()
	f := t.frames[id]
	if f == nil {
		t.mu.Unlock()
		return nil, 0, ErrGone
	}
	session, world, generation := f.Session, f.world, f.Generation
	name := WorldName
	if t.behind {
		name = BehindName
	}
	t.mu.Unlock()
	if world != 0 {
		return session, world, nil
	}
	// Universal access lets it see through frames of the same process to compute
	// where an element is in the window.
	r, err := protocol.Call(ctx, session, cdppage.CreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{
		FrameID: id, WorldName: name, GrantUniveralAccess: new(true),
	})
	if err != nil {
		return nil, 0, err
	}
	// Not waited for: what is run in the world comes behind it.
	_, err = session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{Expression: t.opts.Library(), ContextID: r.ExecutionContextID, Silent: new(true)})
	if err != nil {
		return nil, 0, err
	}
	t.opts.Flush()
	t.mu.Lock()
	f = t.frames[id]
	switch {
	case f == nil || f.Session != session:
		t.mu.Unlock()
		return nil, 0, ErrGone
	case f.Generation != generation: // it may be the world of the document before
		t.mu.Unlock()
		return t.World(ctx, id)
	}
	f.world = r.ExecutionContextID
	t.mu.Unlock()
	return session, r.ExecutionContextID, nil
}

// EmptyWorld is the world that [Tree.World] makes, without our library in it: both
// get the same one.
func EmptyWorld(ctx context.Context, s *cdp.Session, frame protocol.FrameID) (runtime.ExecutionContextID, error) {
	r, err := protocol.Call(ctx, s, cdppage.CreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{
		FrameID: frame, WorldName: WorldName, GrantUniveralAccess: new(true),
	})
	return r.ExecutionContextID, err
}

// InWorld asks something of our world in a frame's document, and of a new one where
// the browser no longer knows that. What is asked may meet the next document, and
// must be right there too, also when it has begun in the one before.
func (t *Tree) InWorld(ctx context.Context, id protocol.FrameID, ask func(*cdp.Session, runtime.ExecutionContextID) error) error {
	for tries := 1; ; tries++ {
		session, world, err := t.World(ctx, id)
		if err == nil {
			err = ask(session, world)
		}
		// A page that moves may still be on its way when it is asked again.
		if !NoContext(err) || tries == 4 {
			return err
		}
		t.forgetWorld(id, world)
	}
}

// Evaluate evaluates an expression of ours in our world of the main document, where
// the page can neither replace what it names nor notice it, and decodes its value.
func (t *Tree) Evaluate(ctx context.Context, expression string, value any) error {
	return t.InWorld(ctx, t.main, func(session *cdp.Session, world runtime.ExecutionContextID) error {
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
func (t *Tree) forgetWorld(id protocol.FrameID, world runtime.ExecutionContextID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.frames[id]; f != nil && f.world == world {
		f.world = 0
	}
}

// NoContext reports whether the browser no longer knows a world, or the document
// went to another process while it was asked.
func NoContext(err error) bool {
	return refusedWith(err, "context with", "Cannot find context", "navigated or closed")
}

// LeftDocument reports whether a document was replaced while a script ran in it.
func LeftDocument(err error) bool {
	return refusedWith(err, "context was destroyed", "Cannot find context", "navigated or closed", "Could not find object", "Promise was collected")
}

func refusedWith(err error, texts ...string) bool {
	var refusal *cdp.Error
	return errors.As(err, &refusal) && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(refusal.Message, text) })
}

// Vanished tells the end of a frame, which only leaves it out, from an error that
// ends a call over all frames.
func Vanished(err error) bool {
	var stale *StaleRefError
	return errors.Is(err, ErrGone) || errors.Is(err, cdp.ErrSessionGone) || errors.Is(err, cdp.ErrTargetCrashed) ||
		cdp.Refused(err) || errors.As(err, &stale)
}
