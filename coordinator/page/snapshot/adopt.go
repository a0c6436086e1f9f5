package snapshot

import (
	"context"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// maxClosedDepth bounds the nesting of closed shadow roots that a snapshot follows.
const maxClosedDepth = 5

// adopt queries the browser for closed shadow roots of the elements that the snapshot
// script suspects, and passes the roots to our world: script cannot reach them. It
// reports whether there was one.
func (r *Reader) adopt(ctx context.Context, session *cdp.Session, id protocol.FrameID) (bool, error) {
	_, world, err := r.page.Frames.World(ctx, id)
	if err != nil {
		return false, err
	}
	elements, release, err := elementsOf(ctx, session, world, "memory.suspects")
	if err != nil || len(elements) == 0 {
		return false, err
	}
	defer release()
	// All commands are sent before the first wait: there may be hundreds.
	type suspect struct {
		host      runtime.RemoteObjectID
		described *cdp.Pending
	}
	var described []suspect
	for _, host := range elements {
		pending, err := session.Start(ctx, dom.CommandDescribeNode, dom.DescribeNodeParams{ObjectID: host})
		if err != nil {
			return false, err
		}
		described = append(described, suspect{host, pending})
	}
	adopted := false
	var passed []*cdp.Pending
	for _, d := range described {
		var node dom.DescribeNodeResult
		if err := d.described.Wait(ctx, &node); err != nil && !cdp.Refused(err) {
			return false, err
		}
		var arguments []*runtime.CallArgument
		if root := closedRoot(node.Node); root != nil {
			params := dom.ResolveNodeParams{BackendNodeID: root.BackendNodeID, ExecutionContextID: world}
			r, err := protocol.Call(ctx, session, dom.ResolveNode, params)
			if cdp.Refused(err) {
				continue // it has just gone
			}
			if err != nil {
				return false, err
			}
			arguments = []*runtime.CallArgument{{ObjectID: r.Object.ObjectID}}
			adopted = true
		}
		pending, err := session.Start(ctx, runtime.CommandCallFunctionOn, runtime.CallFunctionOnParams{
			FunctionDeclaration: frame.Call("adopt"), ObjectID: d.host, Arguments: arguments, Silent: new(true),
		})
		if err != nil {
			return false, err
		}
		passed = append(passed, pending)
	}
	for _, pending := range passed {
		if err := pending.Wait(ctx, nil); err != nil && !cdp.Refused(err) {
			return false, err
		}
	}
	return adopted, nil
}

// closedRoot is the closed shadow root of a node, nil if it has none. It ignores those of
// the browser's own controls.
func closedRoot(n *protocol.Node) *protocol.Node {
	if n == nil {
		return nil
	}
	for _, root := range n.ShadowRoots {
		if root.ShadowRootType == protocol.ShadowRootTypeClosed {
			return root
		}
	}
	return nil
}
