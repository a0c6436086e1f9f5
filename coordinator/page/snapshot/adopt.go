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
	_, world, err := r.frames.World(ctx, id)
	if err != nil {
		return false, err
	}
	list, err := protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{Expression: "memory.suspects", ContextID: world})
	if err != nil || list.Result == nil || list.Result.ObjectID == "" {
		return false, err
	}
	properties, err := protocol.Call(ctx, session, runtime.GetProperties, runtime.GetPropertiesParams{ObjectID: list.Result.ObjectID, OwnProperties: new(true)})
	if err != nil {
		return false, err
	}
	// All commands are sent before the first wait: there may be hundreds.
	type suspect struct {
		host      runtime.RemoteObjectID
		described *cdp.Pending
	}
	var described []suspect
	for _, property := range properties.Result {
		if property.Value == nil || property.Value.Subtype != runtime.RemoteObjectSubtypeNode {
			continue
		}
		host := property.Value.ObjectID
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
			r, err := protocol.Call(ctx, session, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: root.BackendNodeID, ExecutionContextID: world})
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
	_, err = session.Start(ctx, runtime.CommandReleaseObject, runtime.ReleaseObjectParams{ObjectID: list.Result.ObjectID})
	return adopted, err
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
