package frame

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// The names that debuggers show for our isolated worlds begin with these. A tab that was in
// the background at its first action believes that it is visible. Other connections see the
// names of worlds. behindName reports to them that such a tab is not the one that the user
// sees.
const (
	worldName  = "browser-coordinator"
	behindName = worldName + " in the background"
)

// IsBehind reports whether a world of that name is in a tab that was in the background.
func IsBehind(world string) bool { return strings.HasPrefix(world, behindName) }

// ownName is a name for the worlds of one tree. Connections that name the same world share
// it, and with it the refs that were given out there and what is known of the document.
func ownName(begins string) string { return begins + " " + rand.Text()[:8] }

// SetBehind gives new worlds a name for which IsBehind is true, and creates such a world in
// the main frame. It waits for the response: a tab that was never shown applies the zoom of its
// site only now, and an earlier mouse event would hit another place.
func (t *Tree) SetBehind(ctx context.Context) error {
	t.mu.Lock()
	t.worldName = ownName(behindName)
	params := cdppage.CreateIsolatedWorldParams{FrameID: t.main, WorldName: t.worldName}
	t.mu.Unlock()
	return t.session.Call(ctx, cdppage.CommandCreateIsolatedWorld, params, nil)
}

// World returns the id of our isolated world in a frame's document. Scripts run there so
// that the page's patched prototypes and its content security policy do not interfere,
// and the page cannot see them.
func (t *Tree) World(ctx context.Context, id protocol.FrameID) (*cdp.Session, runtime.ExecutionContextID, error) {
	t.mu.Lock()
	f := t.frames[id]
	if f == nil || !f.Known { // it may have come back, with its world
		t.mu.Unlock()
		if err := t.Learn(ctx); err != nil {
			return nil, 0, err
		}
		t.mu.Lock()
		f = t.frames[id]
	}
	if f == nil {
		t.mu.Unlock()
		return nil, 0, ErrGone
	}
	session, world, generation := f.Session, f.world, f.Generation
	name, refused := t.worldName, t.refused(f)
	t.mu.Unlock()
	if refused != nil {
		return nil, 0, refused
	}
	if world != 0 {
		return session, world, nil
	}
	world, err := createWorld(ctx, session, id, name)
	if err != nil {
		return nil, 0, err
	}
	// There is no need to wait: commands for the world run after this one.
	_, err = session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{
		Expression: t.opts.Library(), ContextID: world, Silent: new(true),
	})
	if err != nil {
		return nil, 0, err
	}
	t.opts.Flush()
	t.mu.Lock()
	f = t.frames[id]
	missing := f == nil || f.Session != session
	replaced := !missing && f.Generation != generation // it may be the world of the previous document
	if !missing && !replaced {
		f.world = world
	}
	t.mu.Unlock()
	switch {
	case missing:
		return nil, 0, ErrGone
	case replaced:
		return t.World(ctx, id)
	}
	return session, world, nil
}

// EvaluateApart evaluates an expression in an isolated world without our library, which
// connections share: the expression must keep no state there. It tries again when the document is replaced
// during the call.
func EvaluateApart(
	ctx context.Context, s *cdp.Session, frame protocol.FrameID, params runtime.EvaluateParams,
) (r runtime.EvaluateResult, err error) {
	for tries := 1; ; tries++ {
		params.ContextID, err = createWorld(ctx, s, frame, worldName)
		if err == nil {
			r, err = EvaluateIn(ctx, s, params)
		}
		if !NoContext(err) || tries == maxTries {
			return r, err
		}
	}
}

// maxTries bounds the tries in a page that navigates during each of them.
const maxTries = 4

// createWorld creates an isolated world. Universal access lets scripts read frames of the
// same process, to compute an element's position in the window.
func createWorld(
	ctx context.Context, s *cdp.Session, frame protocol.FrameID, name string,
) (runtime.ExecutionContextID, error) {
	r, err := protocol.Call(ctx, s, cdppage.CreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{
		FrameID: frame, WorldName: name, GrantUniveralAccess: new(true),
	})
	return r.ExecutionContextID, err
}

// InWorld calls ask with our world in a frame's document, and again with a new world if
// the browser no longer knows the first. ask may run in the next document, even after it
// has started in the previous one, and must be correct there.
func (t *Tree) InWorld(
	ctx context.Context, id protocol.FrameID, ask func(*cdp.Session, runtime.ExecutionContextID) error,
) error {
	for tries := 1; ; tries++ {
		session, world, err := t.World(ctx, id)
		if err == nil {
			err = ask(session, world)
		}
		// A page that navigates may do so again during the next try.
		if !NoContext(err) || tries == maxTries {
			return err
		}
		t.mu.Lock()
		if f := t.frames[id]; f != nil && f.world == world {
			f.world = 0 // the next try creates one
		}
		t.mu.Unlock()
	}
}

// Evaluate evaluates an expression in our world of the main document and decodes its
// value. The page can neither replace what the expression uses nor detect it.
func (t *Tree) Evaluate(ctx context.Context, expression string, value any) error {
	return t.InWorld(ctx, t.Main(), func(session *cdp.Session, world runtime.ExecutionContextID) error {
		return evaluate(ctx, session, world, expression, value)
	})
}

// Origin reads the origin of a frame's document, for [Frame.Origin]: it stays the same, and no script
// changes what our world reads. It is null for a document without an origin of its own.
func (t *Tree) Origin(ctx context.Context, id protocol.FrameID) (origin string, err error) {
	before, _ := t.Frame(id)
	err = t.InWorld(ctx, id, func(session *cdp.Session, world runtime.ExecutionContextID) error {
		return evaluate(ctx, session, world, "self.origin", &origin)
	})
	t.opts.Flush() // it may be that of the next document
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.frames[id]; err == nil && f != nil && f.Generation == before.Generation {
		f.Origin = origin
	}
	return origin, err
}

func evaluate(
	ctx context.Context, session *cdp.Session, world runtime.ExecutionContextID, expression string, value any,
) error {
	r, err := EvaluateIn(ctx, session, runtime.EvaluateParams{
		Expression: expression, ContextID: world, AwaitPromise: new(true), ReturnByValue: new(true), Silent: new(true),
	})
	switch {
	case err != nil:
		return err
	case r.ExceptionDetails != nil:
		return errors.New(remote.Exception(r.ExceptionDetails))
	case len(r.Result.Value) == 0: // undefined
		return nil
	}
	return json.Unmarshal(r.Result.Value, value)
}

// NoContext reports whether the browser no longer knows a world, or the document
// moved to another process during the call.
func NoContext(err error) bool {
	return refusedWith(err, "context with", "Cannot find context", "navigated or closed")
}

// LeftDocument reports whether a document was replaced while a script ran in it.
func LeftDocument(err error) bool {
	return refusedWith(err, "context was destroyed", "Cannot find context", "navigated or closed", "Could not find "+
		"object", "Promise was collected")
}

func refusedWith(err error, texts ...string) bool {
	var refusal *cdp.Error
	return errors.As(err, &refusal) && slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(refusal.Message, text)
	})
}

// Vanished reports whether an error means that a frame has gone, or is out of bounds. A call over all frames
// skips such a frame; other errors end the call.
func Vanished(err error) bool {
	var stale *StaleRefError
	return errors.Is(err, ErrGone) || errors.As(err, new(*BoundsError)) || errors.Is(err, cdp.ErrSessionGone) ||
		errors.Is(err, cdp.ErrTargetCrashed) ||
		cdp.Refused(err) || errors.As(err, &stale)
}

// Enter returns a function that creates our world in a frame's document.
func (t *Tree) Enter(ctx context.Context) func(protocol.FrameID) error {
	return func(id protocol.FrameID) error {
		_, _, err := t.World(ctx, id)
		return err
	}
}

// StartEntered is EvaluateEntered without a wait for the responses.
func StartEntered(ctx context.Context, t *Tree, expression string) (commands []*cdp.Pending, all bool) {
	all = true
	for _, f := range t.All() {
		if !f.Entered() {
			continue
		}
		pending, err := f.Session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{
			Expression: expression, ContextID: f.world, ReturnByValue: new(true), Silent: new(true),
		})
		if err != nil {
			all = false
			continue
		}
		commands = append(commands, pending)
	}
	return commands, all
}

// EvaluateEntered evaluates an expression in our worlds, of all documents that have one, and
// returns the values. all is false if a document has not responded.
func EvaluateEntered[V any](ctx context.Context, t *Tree, expression string) (values []V, all bool) {
	commands, all := StartEntered(ctx, t, expression)
	for _, pending := range commands {
		var r runtime.EvaluateResult
		var value V
		if err := pending.Wait(ctx, &r); err != nil || r.Result == nil ||
			json.Unmarshal(r.Result.Value, &value) != nil {
			all = false
			continue
		}
		values = append(values, value)
	}
	return values, all
}
