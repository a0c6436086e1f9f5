package page

import (
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// askVisible reports whether a page is visible, and whether it only believes so
// because a connection emulates its focus.
func (b *Browser) askVisible(ctx context.Context, id target.ID) (visible, behind bool) {
	s, err := b.conn.Attach(ctx, id)
	if err != nil {
		return false, false
	}
	defer b.detach(s)
	created := s.Listen(runtime.ExecutionContextCreated.Method)
	// The response comes after an event for each existing world.
	if err := s.Call(ctx, runtime.CommandEnable, nil, nil); err != nil {
		created.Close()
		return false, false
	}
	created.Close()
	for e := range created.C() {
		var made runtime.EventExecutionContextCreated
		if e.Decode(&made) == nil && made.Context != nil && made.Context.Name == frame.BehindName {
			behind = true
		}
	}
	visible, err = isVisible(ctx, s, id)
	return err == nil && visible, behind
}

// isVisible queries a page in an isolated world, where the page cannot fake the result.
// The main frame of a page has the id of its target.
func isVisible(ctx context.Context, s *cdp.Session, id target.ID) (bool, error) {
	world, err := frame.EmptyWorld(ctx, s, protocol.FrameID(id))
	if err != nil {
		return false, err
	}
	r, err := protocol.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{
		Expression: `document.visibilityState === "visible"`, ContextID: world, ReturnByValue: new(true),
	})
	return err == nil && r.Result != nil && string(r.Result.Value) == "true", err
}
