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
	frame := p.mainID()
	var root *element
	if opts.Target != "" {
		e, err := p.find(ctx, opts.Target)
		if err != nil {
			return s, err
		}
		defer e.release(ctx)
		root, frame = e, e.frame
	}
	r, err := p.outline(ctx, frame, root, opts)
	for range maxReplaced {
		if root != nil || !errors.Is(err, errFrameGone) && !r.Rootless {
			break
		}
		if r.Rootless && !p.awaitRoot(ctx) {
			break
		}
		r, err = p.outline(ctx, frame, root, opts)
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
func (p *Page) outline(ctx context.Context, id protocol.FrameID, root *element, opts SnapshotOptions) (outlineResult, error) {
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
	e, err := p.numbered(ctx, in, n, "iframe")
	if err == nil {
		defer e.release(ctx)
		var node dom.DescribeNodeResult
		if node, err = protocol.Call(ctx, e.session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: e.handle}); err == nil {
			p.browser.flush()
			var r outlineResult
			if r, err = p.outline(ctx, node.Node.FrameID, nil, opts); err == nil {
				return r, nil
			}
		}
	}
	if frameVanished(err) {
		return outlineResult{}, nil
	}
	return outlineResult{}, err
}

// frameVanished tells the end of a frame, which only leaves it out, from news
// that end the snapshot.
func frameVanished(err error) bool {
	var refusal *cdp.Error
	var stale *StaleRefError
	return errors.Is(err, errFrameGone) || errors.Is(err, cdp.ErrSessionGone) || errors.Is(err, cdp.ErrTargetCrashed) ||
		errors.As(err, &refusal) || errors.As(err, &stale)
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

func (p *Page) outlineDocument(ctx context.Context, id protocol.FrameID, root *element, opts SnapshotOptions) (outlineResult, error) {
	var r outlineResult
	// One snapshot at a time, also where it waits for a world: each continues the
	// numbers of the one before.
	p.numbering.Lock()
	defer p.numbering.Unlock()
	last := int(p.browser.opts.Refs.last.Load())
	params := runtime.CallFunctionOnParams{FunctionDeclaration: libraryCall("snapshot"), ReturnByValue: new(true)}
	var session *cdp.Session
	look := func() error {
		generation := 0
		p.mu.Lock()
		if f := p.frames[id]; f != nil {
			generation = f.generation
		}
		p.mu.Unlock()
		args, err := json.Marshal(map[string]any{
			"last": last, "generation": generation, "depth": opts.Depth,
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
		session, params.ObjectID = root.session, root.handle
		err = look()
	} else {
		err = p.inWorld(ctx, id, func(in *cdp.Session, world runtime.ExecutionContextID) error {
			session, params.ExecutionContextID = in, world
			return look()
		})
	}
	// A closed root may hold further ones, which the next look finds.
	for depth := 0; err == nil && r.Suspects > 0 && depth < maxClosedDepth; depth++ {
		var adopted bool
		if adopted, err = p.adopt(ctx, session, id); cdp.Refused(err) {
			err = errFrameGone // its document goes
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.browser.opts.Refs.reach(r.Last)
	if f := p.frames[id]; f == nil || f.world != params.ExecutionContextID && root == nil {
		// The document went while it was read: so did its numbers.
		return r, errFrameGone
	}
	for i := 0; i+1 < len(r.Fresh); i += 2 {
		n, _ := r.Fresh[i].(float64)
		label, _ := r.Fresh[i+1].(string)
		p.refs.entries[int(n)] = refEntry{frame: id, label: label}
	}
	return r, nil
}
