package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/remote"
)

// Snapshot returns the accessibility tree as text, frames and open shadow roots
// included. What can be acted on has a ref; containers that say nothing are left
// out, and a list item or table row of nothing but leaves is one line with its
// parts between bars. It is made by a script in the page and not from CDP's Accessibility
// domain, whose answer is a hundred times larger and slower, and does not know
// what a click reaches. The browser is asked for closed shadow roots, see adopt.
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
	var s Snapshot
	in := p.frames.Main()
	var root *frame.Element
	if opts.Target != "" {
		e, err := p.frames.Find(ctx, opts.Target)
		if err != nil {
			return s, err
		}
		defer e.Release(ctx)
		root, in = e, e.Frame
	}
	r, err := p.outline(ctx, in, root, opts)
	for range maxReplaced {
		if root != nil || !errors.Is(err, frame.ErrGone) && !r.Rootless {
			break
		}
		if r.Rootless && !p.awaitRoot(ctx) {
			break
		}
		r, err = p.outline(ctx, in, root, opts)
	}
	if err != nil {
		return s, err
	}
	s = Snapshot{URL: p.URL(), Title: r.Title, Text: r.Text, Refs: r.Refs}
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.seen
	p.seen = seen{options: opts, document: p.commits, text: s.Text}
	p.seen.options.Diff = false
	if opts.Diff && before.options == p.seen.options && before.document == p.commits && before.text != "" {
		if changes := diff(before.text, s.Text); len(changes) < len(s.Text) {
			s.Text, s.Diff = changes, true
		}
	}
	return s, nil
}

// awaitRoot waits for a document that has begun without an element to be read; false:
// it was, or there was nothing to be waited for.
func (p *Page) awaitRoot(ctx context.Context) bool {
	p.mu.Lock()
	parsed := p.parsed
	p.mu.Unlock()
	bounded, cancel := context.WithTimeoutCause(ctx, loadPatience, errPatience)
	defer cancel()
	return !parsed && p.await(bounded, func() bool { return p.parsed }) == nil
}

// maxReplaced bounds how often a snapshot begins anew because the page went on to
// another document meanwhile.
const maxReplaced = 3

// seen is the last snapshot, for the differences of the next.
type seen struct {
	options  SnapshotOptions
	document int // as Page.commits
	text     string
}

// outlineResult is what snapshot.js returns.
type outlineResult struct {
	Text  string
	Title string
	Refs  int
	Last  int
	// Rootless says that the document has no element yet, or none any more.
	Rootless bool
	// Sighted is number and name, in turn, of what was looked for; Self the role
	// of the root then.
	Sighted []any
	Self    string
	// Suspects is how many elements may have a closed shadow root.
	Suspects int
	Fresh    []any // number and label, in turn, of elements that it has numbered
}

// frameMark stands in a text where the content of a frame belongs.
const frameMark = "\x01"

// outline prints one document, then puts those of its frames in their places.
func (p *Page) outline(ctx context.Context, id protocol.FrameID, root *frame.Element, opts SnapshotOptions) (outlineResult, error) {
	r, err := p.outlineDocument(ctx, id, root, opts)
	if err != nil || !strings.Contains(r.Text, frameMark) {
		return r, err
	}
	var b strings.Builder
	for line := range strings.Lines(r.Text) {
		indent, number, marked := strings.Cut(line, frameMark)
		if !marked {
			b.WriteString(line)
			continue
		}
		inner, err := p.outlineFrame(ctx, id, strings.TrimSpace(number), opts)
		if err != nil {
			return r, err
		}
		r.Refs += inner.Refs
		for line := range strings.Lines(inner.Text) {
			b.WriteString(indent + line)
		}
	}
	r.Text = b.String()
	return r, nil
}

// outlineFrame prints the document of the frame element with that number. One
// that has gone meanwhile is empty.
func (p *Page) outlineFrame(ctx context.Context, in protocol.FrameID, number string, opts SnapshotOptions) (outlineResult, error) {
	n, err := strconv.Atoi(number)
	if err != nil {
		return outlineResult{}, fmt.Errorf("frame mark %q: %w", number, err)
	}
	e, err := p.frames.Numbered(ctx, in, n, "iframe")
	if err == nil {
		defer e.Release(ctx)
		var node dom.DescribeNodeResult
		if node, err = protocol.Call(ctx, e.Session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: e.Handle}); err == nil {
			p.browser.flush()
			var r outlineResult
			if r, err = p.outline(ctx, node.Node.FrameID, nil, opts); err == nil {
				return r, nil
			}
		}
	}
	if frame.Vanished(err) {
		return outlineResult{}, nil
	}
	return outlineResult{}, err
}

// callOutline runs snapshot.js.
func callOutline(ctx context.Context, session *cdp.Session, params runtime.CallFunctionOnParams) (outlineResult, error) {
	var r outlineResult
	reply, err := protocol.Call(ctx, session, runtime.CallFunctionOn, params)
	if err != nil {
		return r, err
	}
	if reply.ExceptionDetails != nil {
		return r, fmt.Errorf("snapshot script: %s", remote.Exception(reply.ExceptionDetails))
	}
	if err := json.Unmarshal([]byte(remote.Text(reply.Result)), &r); err != nil {
		return r, fmt.Errorf("snapshot script: %w", err)
	}
	return r, nil
}

func (p *Page) outlineDocument(ctx context.Context, id protocol.FrameID, root *frame.Element, opts SnapshotOptions) (outlineResult, error) {
	var r outlineResult
	// One snapshot at a time, also where it waits for a world: each continues the
	// numbers of the one before.
	p.numbering.Lock()
	defer p.numbering.Unlock()
	last := p.frames.LastRef()
	params := runtime.CallFunctionOnParams{FunctionDeclaration: frame.Call("snapshot"), ReturnByValue: new(true)}
	var session *cdp.Session
	look := func() error {
		f, _ := p.frames.Frame(id)
		args, err := json.Marshal(map[string]any{
			"last": last, "generation": f.Generation, "depth": opts.Depth,
			"interactive": opts.Interactive, "urls": opts.URLs, "look": opts.look, "full": opts.full,
		})
		if err != nil {
			return err
		}
		params.Arguments = []*runtime.CallArgument{{Value: args}}
		fresh := r.Fresh
		r, err = callOutline(ctx, session, params)
		r.Fresh = append(fresh, r.Fresh...)
		last = max(last, r.Last)
		return err
	}
	var err error
	if root != nil {
		session, params.ObjectID = root.Session, root.Handle
		err = look()
	} else {
		err = p.frames.InWorld(ctx, id, func(in *cdp.Session, world runtime.ExecutionContextID) error {
			session, params.ExecutionContextID = in, world
			return look()
		})
	}
	// A closed root may hold further ones, which the next look finds.
	for depth := 0; err == nil && r.Suspects > 0 && depth < maxClosedDepth; depth++ {
		var adopted bool
		if adopted, err = p.adopt(ctx, session, id); cdp.Refused(err) {
			err = frame.ErrGone // its document goes
		}
		if !adopted {
			break
		}
		err = look()
	}
	if err != nil {
		return r, err
	}
	p.browser.flush()
	var refs []frame.Ref
	for i := 0; i+1 < len(r.Fresh); i += 2 {
		n, _ := r.Fresh[i].(float64)
		label, _ := r.Fresh[i+1].(string)
		refs = append(refs, frame.Ref{Number: int(n), Label: label})
	}
	return r, p.frames.AddRefs(id, params.ExecutionContextID, r.Last, refs)
}

// similar returns the ref of the only element of the page as it is now that has the
// role and name of a stale one. It is offered, never acted on.
func (p *Page) similar(ctx context.Context, label string) string {
	if !strings.Contains(label, `"`) {
		return ""
	}
	now, err := p.outline(ctx, p.frames.Main(), nil, SnapshotOptions{Interactive: true, full: true})
	if err != nil {
		return ""
	}
	found := ""
	for line := range strings.Lines(now.Text) {
		rest, same := strings.CutPrefix(line, "- "+label+" ")
		_, rest, numbered := strings.Cut(rest, "[ref=")
		if !same || !numbered {
			continue
		}
		if found != "" {
			return ""
		}
		found, _, _ = strings.Cut(rest, "]")
	}
	return found
}
