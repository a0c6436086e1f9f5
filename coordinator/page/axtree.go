package page

import (
	"context"
	"errors"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/dom"

	"browser-coordinator/coordinator/cdp"
)

// axNode is what a snapshot needs of an Accessibility.AXNode: reading less is
// reading faster.
type axNode struct {
	NodeID     string                 `json:"nodeId"`
	Ignored    bool                   `json:"ignored"`
	Role       axValue                `json:"role"`
	Name       axValue                `json:"name"`
	Value      axValue                `json:"value"`
	Properties []axProperty           `json:"properties"`
	ParentID   string                 `json:"parentId"`
	ChildIDs   []string               `json:"childIds"`
	Backend    protocol.BackendNodeID `json:"backendDOMNodeId"`
}

type axValue struct {
	Value jsonv2.Value `json:"value"`
}

type axProperty struct {
	Name  string  `json:"name"`
	Value axValue `json:"value"`
}

// text reads a string value; numbers and booleans as they are written.
func (v axValue) text() string {
	if len(v.Value) == 0 {
		return ""
	}
	if v.Value[0] != '"' {
		return string(v.Value)
	}
	var s string
	if jsonv2.Unmarshal(v.Value, &s, jsonv2.AllowInvalidUTF8(true)) != nil {
		return ""
	}
	return s
}

// axTree is the accessibility tree of one frame.
type axTree struct {
	frame    protocol.FrameID
	url      string
	root     *axNode
	nodes    map[string]*axNode
	children map[protocol.BackendNodeID]*axTree // by the frame element that holds them
}

// readTrees reads the trees of a frame and of all frames below it. The requests
// of one level go out together.
func (p *Page) readTrees(ctx context.Context, id protocol.FrameID) (*axTree, error) {
	p.mu.Lock()
	f := p.frames[id]
	if f == nil {
		p.mu.Unlock()
		return nil, errFrameGone
	}
	session, url := f.session, f.url
	children := p.childFrames(id)
	p.mu.Unlock()

	params := map[string]any{}
	if id != p.mainID() {
		params["frameId"] = id
	}
	tree, err := session.Start(ctx, "Accessibility.getFullAXTree", params)
	if err != nil {
		return nil, err
	}
	owners := make([]*cdp.Pending, len(children))
	for i, child := range children {
		if owners[i], err = session.Start(ctx, dom.CommandGetFrameOwner, dom.GetFrameOwnerParams{FrameID: child.id}); err != nil {
			return nil, err
		}
	}
	var r struct {
		Nodes []*axNode `json:"nodes"`
	}
	if err := tree.Wait(ctx, &r); err != nil {
		return nil, err
	}
	t := &axTree{frame: id, url: url, nodes: make(map[string]*axNode, len(r.Nodes)), children: map[protocol.BackendNodeID]*axTree{}}
	for _, n := range r.Nodes {
		t.nodes[n.NodeID] = n
		if n.ParentID == "" && t.root == nil {
			t.root = n
		}
	}
	for i, child := range children {
		var owner dom.GetFrameOwnerResult
		err := owners[i].Wait(ctx, &owner)
		if err == nil {
			var sub *axTree
			if sub, err = p.readTrees(ctx, child.id); err == nil {
				t.children[owner.BackendNodeID] = sub
			}
		}
		if err != nil && !frameVanished(err) {
			return nil, err
		}
	}
	return t, nil
}

// frameVanished tells the end of a child frame, which only leaves it out, from
// news that end the snapshot.
func frameVanished(err error) bool {
	var refusal *cdp.Error
	return errors.Is(err, errFrameGone) || errors.Is(err, cdp.ErrSessionGone) || errors.Is(err, cdp.ErrTargetCrashed) || errors.As(err, &refusal)
}

// squash makes one line of a name.
func squash(s string) string { return strings.Join(strings.Fields(s), " ") }
