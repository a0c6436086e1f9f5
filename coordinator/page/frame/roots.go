package frame

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
)

// closedRoots is what is known of the closed shadow roots of a document.
type closedRoots struct {
	world  runtime.ExecutionContextID // that they were passed to
	passed map[protocol.BackendNodeID]bool
	others int // texts that look like one in the document's HTML

	size int // of the HTML, in bytes
	at   time.Time
	took time.Duration
}

const (
	// largeDocument is the size of the HTML, in bytes, from which on Refresh is rare.
	largeDocument = 2 << 20
	// refreshShare is the divisor of the time that these documents are kept busy.
	refreshShare = 20
)

// rootMark is how the HTML in a response has a closed shadow root.
var rootMark = []byte(`<template shadowrootmode=\"closed\"`)

// Pierce passes the closed shadow roots of a document to our world. No script can find them, no event
// reports that one is attached, and a host may look like any other element. The browser has them in the HTML
// of the document, which takes a twentieth of the time of a snapshot: only if that has others than the
// known ones, all nodes are read.
func (t *Tree) Pierce(ctx context.Context, id protocol.FrameID) error {
	err := t.InWorld(ctx, id, func(session *cdp.Session, world runtime.ExecutionContextID) error {
		return t.pierce(ctx, id, session, world)
	})
	if cdp.Refused(err) {
		return nil // it is being replaced, which the next call finds out
	}
	return err
}

// Refresh is Pierce, but not for a large document that has just been looked at: what happens often
// must not keep it busy.
func (t *Tree) Refresh(ctx context.Context, id protocol.FrameID) error {
	t.mu.Lock()
	f := t.frames[id]
	last := t.roots[id]
	rests := f != nil && last.world == f.world && last.size > largeDocument &&
		time.Since(last.at) < refreshShare*last.took
	t.mu.Unlock()
	if rests {
		return nil
	}
	return t.Pierce(ctx, id)
}

func (t *Tree) pierce(
	ctx context.Context, id protocol.FrameID, session *cdp.Session, world runtime.ExecutionContextID,
) error {
	start := time.Now()
	found, err := EvaluateIn(ctx, session, runtime.EvaluateParams{
		Expression: InDOM("document.$body ?? document.$documentElement"), ContextID: world,
	})
	if err != nil || found.Result == nil || found.Result.ObjectID == "" {
		return err
	}
	top := found.Result.ObjectID
	defer Release(ctx, session, top)
	reading, err := session.Start(ctx, dom.CommandGetOuterHTML, dom.GetOuterHTMLParams{
		ObjectID: top, IncludeShadowDOM: new(true),
	})
	if err != nil {
		return err
	}
	known := 0
	if err := evaluate(ctx, session, world, "library.adopted()", &known); err != nil {
		return err
	}
	var html json.RawMessage
	if err := reading.Wait(ctx, &html); err != nil {
		return err
	}
	now := closedRoots{world: world, size: len(html), at: time.Now(), took: time.Since(start)}
	t.mu.Lock()
	if last := t.roots[id]; last.world == world {
		now.passed, now.others = last.passed, last.others
	}
	t.mu.Unlock()
	if marks := bytes.Count(html, rootMark); marks != known+now.others {
		now.passed, err = adopt(ctx, session, world, top, now.passed)
		now.others = max(0, marks-len(now.passed))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.roots[id] = now
	}
	return err
}

// adopt passes the closed shadow roots in an element to our world, except those that it has. It returns all
// of them.
func adopt(
	ctx context.Context, session *cdp.Session, world runtime.ExecutionContextID, top runtime.RemoteObjectID,
	passed map[protocol.BackendNodeID]bool,
) (all map[protocol.BackendNodeID]bool, err error) {
	described, err := protocol.Call(ctx, session, dom.DescribeNode, dom.DescribeNodeParams{
		ObjectID: top, Depth: new(int64(-1)), Pierce: new(true),
	})
	if err != nil {
		return nil, err
	}
	const group = "closed roots"
	defer func() {
		_, _ = session.Start(context.WithoutCancel(ctx), runtime.CommandReleaseObjectGroup,
			runtime.ReleaseObjectGroupParams{ObjectGroup: group})
	}()
	all = map[protocol.BackendNodeID]bool{}
	var resolving []*cdp.Pending // all commands are sent before the first wait: there may be thousands
	for _, root := range closedIn(described.Node, nil) {
		all[root] = true
		if passed[root] {
			continue
		}
		pending, err := session.Start(ctx, dom.CommandResolveNode, dom.ResolveNodeParams{
			BackendNodeID: root, ExecutionContextID: world, ObjectGroup: group,
		})
		if err != nil {
			return nil, err
		}
		resolving = append(resolving, pending)
	}
	var roots []*runtime.CallArgument
	for _, pending := range resolving {
		var resolved dom.ResolveNodeResult
		err := pending.Wait(ctx, &resolved)
		if cdp.Refused(err) {
			continue // it has just gone
		}
		if err != nil {
			return nil, err
		}
		roots = append(roots, &runtime.CallArgument{ObjectID: resolved.Object.ObjectID})
	}
	_, err = protocol.Call(ctx, session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: "function (...roots) { library.adopt(roots) }", ExecutionContextID: world,
		Arguments: roots, Silent: new(true),
	})
	return all, err
}

// closedIn appends the closed shadow roots in a node, without those of the browser's own controls.
func closedIn(n *protocol.Node, roots []protocol.BackendNodeID) []protocol.BackendNodeID {
	for _, root := range n.ShadowRoots {
		if root.ShadowRootType == protocol.ShadowRootTypeClosed {
			roots = append(roots, root.BackendNodeID)
		}
		if root.ShadowRootType != protocol.ShadowRootTypeUserAgent {
			roots = closedIn(root, roots)
		}
	}
	for _, child := range n.Children {
		roots = closedIn(child, roots)
	}
	return roots
}

// refreshPause is the time between two looks of RefreshAll.
const refreshPause = 500 * time.Millisecond

// RefreshAll refreshes all documents again and again until the context is done. It is for a wait in the
// page, which no event tells of a new root.
func (t *Tree) RefreshAll(ctx context.Context) {
	for pause := time.NewTicker(refreshPause); ; {
		for _, f := range t.All() {
			if f.Entered() {
				_ = t.Refresh(ctx, f.ID) // the wait itself reports what is wrong with the document
			}
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}
