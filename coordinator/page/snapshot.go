package page

import (
	"context"
	"fmt"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
)

// Snapshot returns the accessibility tree as text, frames and shadow roots
// included. What can be acted on has a ref; containers that say nothing are left
// out.
func (p *Page) Snapshot(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	const doing = "taking a snapshot"
	ctx, end, err := p.begin(ctx, doing, p.browser.opts.CallTimeout)
	if err != nil {
		return Snapshot{}, err
	}
	defer end()
	s, err := p.snapshot(ctx, opts)
	if err != nil {
		return Snapshot{}, p.explain(err, doing)
	}
	return s, nil
}

func (p *Page) snapshot(ctx context.Context, opts SnapshotOptions) (Snapshot, error) {
	id, node := p.mainID(), protocol.BackendNodeID(0)
	if err := p.learnFrames(ctx); err != nil {
		return Snapshot{}, err
	}
	if opts.Target != "" {
		e, err := p.find(ctx, opts.Target)
		if err != nil {
			return Snapshot{}, err
		}
		r, err := protocol.Call(ctx, e.session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: e.handle})
		e.release(ctx)
		if err != nil {
			return Snapshot{}, err
		}
		id, node = e.frame, r.Node.BackendNodeID
	}
	tree, err := p.readTrees(ctx, id)
	if err != nil {
		return Snapshot{}, err
	}
	// What the events say by now decides to which documents the nodes belong.
	p.browser.flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.frames[p.mainID()]; f == nil {
		return Snapshot{}, errFrameGone
	}
	b := &outliner{page: p, urls: opts.URLs}
	root := tree.root
	if node != 0 {
		if root = tree.find(node); root == nil {
			return Snapshot{}, &TargetError{opts.Target, "has no accessible content"}
		}
	}
	var items []*item
	title := ""
	if root != nil {
		title = squash(tree.root.Name.text())
		items = b.outline(tree, root)
	}
	w := &outlineWriter{depth: opts.Depth}
	if opts.Interactive {
		w.flat(items)
	} else {
		w.tree(items, 0)
	}
	return Snapshot{URL: p.frames[p.mainID()].url, Title: title, Text: w.String(), Refs: w.refs}, nil
}

// find returns the node of an element, or the nearest below it that is shown.
func (t *axTree) find(id protocol.BackendNodeID) *axNode {
	for _, n := range t.nodes {
		if n.Backend == id {
			return n
		}
	}
	return nil
}

// outlineWriter prints items.
type outlineWriter struct {
	strings.Builder
	depth int
	refs  int
}

func (w *outlineWriter) tree(items []*item, level int) {
	for _, it := range items {
		w.line(it, level)
		if len(it.kids) == 0 {
			continue
		}
		if w.depth > 0 && level+1 >= w.depth {
			fmt.Fprintf(w, "%s- … %d more below\n", indent(level+1), count(it.kids))
			continue
		}
		w.tree(it.kids, level+1)
	}
}

// flat prints only what can be acted on.
func (w *outlineWriter) flat(items []*item) {
	for _, it := range items {
		if it.ref != "" {
			w.line(it, 0)
		}
		w.flat(it.kids)
	}
}

func indent(level int) string { return strings.Repeat("  ", level) }

func count(items []*item) int {
	n := len(items)
	for _, it := range items {
		n += count(it.kids)
	}
	return n
}

func (w *outlineWriter) line(it *item, level int) {
	w.WriteString(indent(level))
	w.WriteString("- ")
	w.WriteString(it.role)
	if it.name != "" {
		w.WriteByte(' ')
		w.WriteString(quote(it.name))
	}
	for _, a := range it.attributes {
		w.WriteString(" [")
		w.WriteString(a)
		w.WriteByte(']')
	}
	if it.ref != "" {
		w.refs++
		w.WriteString(" [ref=")
		w.WriteString(it.ref)
		w.WriteByte(']')
	}
	if it.text != "" {
		w.WriteString(": ")
		w.WriteString(it.text)
	} else if len(it.kids) > 0 {
		w.WriteByte(':')
	}
	w.WriteByte('\n')
}

// quote puts a name in quotes, escaping only what would end them.
func quote(s string) string {
	if strings.ContainsAny(s, `"\`) {
		s = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
	}
	return `"` + s + `"`
}
