package frame

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// Element is a resolved target, with a handle in our isolated world.
type Element struct {
	Target    string // the ref or the selector
	Label     string // as the last snapshot had it, for example: button "Save"; empty for a selector
	Identity  Identity
	Unchanged bool // nothing has changed in its document since the agent was last shown that
	Frame     protocol.FrameID
	Session   *cdp.Session
	Handle    runtime.RemoteObjectID
}

// Identity is what a page presents an element as. Of a part of a button it is the button's.
type Identity struct {
	Role, Name string
	Hint       string // distinguishes it from others if it has no name: id=coupon
	// Self is the label of the element itself, if the mouse hits a control in it: then the
	// identity is that control's.
	Self string
	// Password: it is a field for a password, also while the page shows what is typed.
	Password bool
}

// String is the identity as snapshots print it: button "Save", textbox [id=coupon]. It is
// empty if it is not known.
func (i Identity) String() string {
	switch {
	case i.Name != "":
		return i.Role + ` "` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(i.Name) + `"`
	case i.Hint != "":
		return i.Role + " [" + i.Hint + "]"
	}
	return i.Role
}

// label is the label of the element itself, as snapshots give it to refs.
func (i Identity) label() string {
	i.Hint = ""
	return cmp.Or(i.Self, i.String())
}

// PreviousLabel is the label of the last snapshot, if the page presents the element as something
// else now.
func (e *Element) PreviousLabel() string {
	if e.Identity.Role == "" || e.Label == e.Identity.label() {
		return ""
	}
	return e.Label
}

// Point is a point in CSS pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Identify sets Is; with the pointer, to what the pointer would hit: at that point of the
// element, nil: where an action without a position points. missing: the element is no longer in its
// document.
func (e *Element) Identify(ctx context.Context, pointer bool, point *Point) (missing bool, err error) {
	var r struct {
		Identity
		Gone bool
	}
	err = e.Call(ctx, "identify", map[string]any{"pointer": pointer, "at": point}, &r)
	e.Identity = r.Identity
	return r.Gone, err
}

// Resolve returns a node's element with a handle in our world of a frame's document.
func (t *Tree) Resolve(
	ctx context.Context, id protocol.FrameID, node protocol.BackendNodeID, target string,
) (*Element, error) {
	session, world, err := t.World(ctx, id)
	if err != nil {
		return nil, err
	}
	r, err := protocol.Call(ctx, session, dom.ResolveNode, dom.ResolveNodeParams{
		BackendNodeID: node, ExecutionContextID: world,
	})
	if err != nil {
		return nil, err
	}
	return &Element{Target: target, Frame: id, Session: session, Handle: r.Object.ObjectID}, nil
}

// Owner finds the element of a frame in the process that renders its parent.
func (t *Tree) Owner(ctx context.Context, f Frame) (*Element, error) {
	session, _, err := t.World(ctx, f.Parent)
	if err != nil {
		return nil, err
	}
	owner, err := protocol.Call(ctx, session, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: f.ID})
	if err != nil {
		return nil, err
	}
	return t.Resolve(ctx, f.Parent, owner.BackendNodeID, "frame")
}

// Call runs a function of the library on the element and decodes its result.
func (e *Element) Call(ctx context.Context, function string, args, result any) error {
	pending, err := e.Start(ctx, function, args)
	if err != nil {
		return err
	}
	return e.Outcome(ctx, pending, result)
}

// Run calls a function with the element as `this`, as [Tree.Run] does.
func (e *Element) Run(ctx context.Context, function string, argument, result any) error {
	pending, err := e.start(ctx, InDOM(function), argument, false)
	if err != nil {
		return err
	}
	var r runtime.CallFunctionOnResult
	if err := pending.Wait(ctx, &r); err != nil {
		return e.missing(err)
	}
	return remote.Decode(r, result)
}

// CallAsUser is Call for a function that simulates a user's input, so that the page has
// user activation. Other functions must not change the page.
func (e *Element) CallAsUser(ctx context.Context, function string, args, result any) error {
	pending, err := e.start(ctx, Call(function), args, true)
	if err != nil {
		return err
	}
	return e.Outcome(ctx, pending, result)
}

// Start is Call without waiting for the result.
func (e *Element) Start(ctx context.Context, function string, args any) (*cdp.Pending, error) {
	return e.start(ctx, Call(function), args, false)
}

func (e *Element) start(ctx context.Context, declaration string, argument any, asUser bool) (*cdp.Pending, error) {
	encoded, err := json.Marshal(argument)
	if err != nil {
		return nil, err
	}
	return e.Session.Start(ctx, runtime.CommandCallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: declaration, ObjectID: e.Handle, Arguments: []*runtime.CallArgument{{Value: encoded}},
		AwaitPromise: new(true), ReturnByValue: new(true), UserGesture: new(asUser),
	})
}

// Outcome waits for the result of a Start.
func (e *Element) Outcome(ctx context.Context, pending *cdp.Pending, result any) error {
	var r runtime.CallFunctionOnResult
	if err := pending.Wait(ctx, &r); err != nil {
		return e.missing(err)
	}
	if r.ExceptionDetails != nil {
		return fmt.Errorf("script on %s: %s", e.Target, remote.Exception(r.ExceptionDetails))
	}
	if result == nil || len(r.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(r.Result.Value, result)
}

// OwnHandle is the element's handle in the page's main world, which differs from the one
// in ours.
func (e *Element) OwnHandle(ctx context.Context) (runtime.RemoteObjectID, error) {
	described, err := protocol.Call(ctx, e.Session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: e.Handle})
	if err != nil {
		return "", e.missing(err)
	}
	own, err := protocol.Call(ctx, e.Session, dom.ResolveNode, dom.ResolveNodeParams{
		BackendNodeID: described.Node.BackendNodeID,
	})
	if err != nil {
		return "", e.missing(err)
	}
	return own.Object.ObjectID, nil
}

// Node is the element's node in its process; 0: it has gone.
func (e *Element) Node(ctx context.Context) protocol.BackendNodeID {
	described, err := protocol.Call(ctx, e.Session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: e.Handle})
	if err != nil {
		return 0
	}
	return described.Node.BackendNodeID
}

// missing detects an element whose document was replaced while a script ran in it.
func (e *Element) missing(err error) error {
	if LeftDocument(err) {
		return &StaleRefError{Ref: e.Target, Label: e.Label, Cause: "its document was replaced"}
	}
	return err
}

// Release lets the page collect the element. It does not wait for the response.
func (e *Element) Release(ctx context.Context) { Release(ctx, e.Session, e.Handle) }

// Release lets a page collect an object. It does not wait for the response.
func Release(ctx context.Context, s *cdp.Session, object runtime.RemoteObjectID) {
	params := runtime.ReleaseObjectParams{ObjectID: object}
	_, _ = s.Start(context.WithoutCancel(ctx), runtime.CommandReleaseObject, params)
}
