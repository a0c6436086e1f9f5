package page

import (
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// askVisible asks a page whether it is visible, and its worlds whether it only
// believes so because somebody acts in it.
func (b *Browser) askVisible(ctx context.Context, id target.ID) (visible, behind bool) {
	s, err := b.conn.Attach(ctx, id)
	if err != nil {
		return false, false
	}
	defer b.detach(s)
	created := s.Listen(runtime.ExecutionContextCreated.Method)
	// Its reply comes behind an event for each world that is there.
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

// isVisible asks a page in a world of ours, where it cannot answer what it likes.
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
