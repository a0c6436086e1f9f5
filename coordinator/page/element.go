package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// element is a target that was found, with a handle in our isolated world.
type element struct {
	target  string
	label   string // as in refEntry; empty for a selector
	frame   protocol.FrameID
	session *cdp.Session
	handle  runtime.RemoteObjectID
}

// flush waits until the events that have come so far are handled. The event
// loop never blocks, so neither does this.
func (b *Browser) flush() {
	done := make(chan struct{})
	if !b.sub.Mark(done) {
		return
	}
	select {
	case <-done:
	case <-b.done:
	}
}

// find resolves a target to an element.
func (p *Page) find(ctx context.Context, target string) (*element, error) {
	target = strings.TrimSpace(target)
	if target == "" {
		return nil, &TargetError{target, "is empty: give a ref of the last snapshot or a CSS selector"}
	}
	if n, ok := parseRef(target); ok {
		e, err := p.findRef(ctx, target, n)
		var stale *StaleRefError
		if errors.As(err, &stale) {
			stale.Now = p.nearest(ctx, stale.Was)
		}
		return e, err
	}
	return p.findSelector(ctx, target)
}

// nearest returns the ref of the only element of the page as it is now that has
// the role and name of a stale one. It is offered, never acted on.
func (p *Page) nearest(ctx context.Context, label string) string {
	if !strings.Contains(label, `"`) {
		return ""
	}
	now, err := p.outline(ctx, p.mainID(), nil, SnapshotOptions{Interactive: true, full: true})
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

// removed is the error for an element that is no longer in its document.
func (p *Page) removed(ctx context.Context, e *element) error {
	gone := &StaleRefError{Ref: e.target, Was: e.label, Gone: "its element was removed"}
	if _, numbered := parseRef(e.target); numbered {
		gone.Now = p.nearest(ctx, e.label)
	}
	return gone
}

func (p *Page) lookUpRef(target string, n int) (refEntry, error) {
	p.mu.Lock()
	entry, ok := p.refs.entries[n]
	p.mu.Unlock()
	switch {
	case ok && !entry.stale:
		return entry, nil
	case ok:
		return entry, &StaleRefError{Ref: target, Was: entry.label, Gone: "its document was replaced"}
	case n <= 0 || int64(n) > p.browser.opts.Refs.last.Load():
		return entry, &TargetError{target, "no snapshot has given out that ref: take one and use its refs"}
	}
	if label, where, ok := p.browser.refElsewhere(p, n); ok {
		return entry, &TargetError{target, fmt.Sprintf("is %s of another tab, %s: select that tab first (browser_tabs), or take a snapshot of this one", label, where)}
	}
	return entry, &StaleRefError{Ref: target, Gone: "its document or tab has gone"}
}

// refElsewhere finds the page that a ref is of, other than one.
func (b *Browser) refElsewhere(than *Page, n int) (label, where string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.sessions {
		if p == than {
			continue
		}
		p.mu.Lock()
		label, ok = p.refs.holds(n)
		where = p.frames[p.mainID()].url
		p.mu.Unlock()
		if ok {
			return label, where, true
		}
	}
	return "", "", false
}

func (p *Page) findRef(ctx context.Context, target string, n int) (*element, error) {
	entry, err := p.lookUpRef(target, n)
	if err != nil {
		return nil, err
	}
	e, err := p.numbered(ctx, entry.frame, n, entry.label)
	// What the events say by now decides whether the document is still there.
	p.browser.flush()
	if _, gone := p.lookUpRef(target, n); gone != nil {
		err = gone
	}
	if err != nil {
		return nil, err
	}
	e.target = target
	return e, nil
}

// numbered asks the snapshot script's table for an element.
func (p *Page) numbered(ctx context.Context, id protocol.FrameID, n int, label string) (*element, error) {
	gone := &StaleRefError{Ref: "e" + strconv.Itoa(n), Was: label}
	p.mu.Lock()
	f := p.frames[id]
	if f == nil || f.world == 0 {
		p.mu.Unlock()
		gone.Gone = "its frame or document has gone"
		return nil, gone
	}
	session, world := f.session, f.world
	p.mu.Unlock()
	r, err := protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("globalThis.elements?.get(%d)?.deref()", n), ContextID: world,
	})
	if noContext(err) {
		gone.Gone = "its document was replaced"
		return nil, gone
	}
	if err != nil {
		return nil, err
	}
	if r.Result == nil || r.Result.ObjectID == "" {
		gone.Gone = "its element was removed"
		return nil, gone
	}
	return &element{target: gone.Ref, label: label, frame: id, session: session, handle: r.Result.ObjectID}, nil
}

// findSelector looks for a CSS selector in the main frame, then in the others;
// shadow roots are looked into, closed ones once a snapshot has shown them.
func (p *Page) findSelector(ctx context.Context, selector string) (*element, error) {
	if err := p.learnFrames(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	order := []protocol.FrameID{p.mainID()}
	for i := 0; i < len(order); i++ {
		for _, child := range p.childFrames(order[i]) {
			order = append(order, child.id)
		}
	}
	p.mu.Unlock()
	for i, id := range order {
		e, err := p.query(ctx, id, selector)
		if i > 0 && (errors.Is(err, errFrameGone) || errors.Is(err, cdp.ErrSessionGone)) {
			continue
		}
		if e != nil || err != nil {
			return e, err
		}
	}
	return nil, &TargetError{selector, noMatch}
}

const noMatch = "matches no element: take a snapshot and use a ref of it"

// findInTime is find for a selector that may match only once the page is there: it
// waits for the main frame, whichever documents that shows meanwhile.
func (p *Page) findInTime(ctx context.Context, target string, until time.Time) (*element, error) {
	for {
		e, err := p.find(ctx, target)
		var missing *TargetError
		left := time.Until(until)
		if !errors.As(err, &missing) || missing.Reason != noMatch || left <= 0 {
			return e, err
		}
		if err := p.awaitMatch(ctx, missing.Target, left); err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// awaitMatch waits until a selector matches, or for that long. It is refused when
// the document is replaced.
func (p *Page) awaitMatch(ctx context.Context, selector string, patience time.Duration) error {
	session, world, err := p.world(ctx, p.mainID())
	if err != nil {
		return err
	}
	quoted, err := json.Marshal(selector)
	if err != nil {
		return err
	}
	_, err = protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf(untilTrue, "document.querySelector("+string(quoted)+")", patience.Milliseconds()),
		ContextID:  world, AwaitPromise: new(true), ReturnByValue: new(true), Silent: new(true),
	})
	return err
}

// query returns nil when the frame has no match.
func (p *Page) query(ctx context.Context, id protocol.FrameID, selector string) (*element, error) {
	literal, err := json.Marshal(selector)
	if err != nil {
		return nil, err
	}
	var (
		in *cdp.Session
		r  runtime.EvaluateResult
	)
	err = p.inWorld(ctx, id, func(session *cdp.Session, world runtime.ExecutionContextID) (err error) {
		in = session
		r, err = protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{Expression: "library.query(" + string(literal) + ")", ContextID: world})
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.ExceptionDetails != nil {
		return nil, fmt.Errorf("look for %q: %s", selector, remote.Exception(r.ExceptionDetails))
	}
	switch {
	case r.Result.Type == runtime.RemoteObjectTypeString: // the script's words
		return nil, &TargetError{selector, remote.Text(r.Result)}
	case r.Result.ObjectID == "":
		return nil, nil
	}
	return &element{target: selector, frame: id, session: in, handle: r.Result.ObjectID}, nil
}

// call runs a function of the library on the element and decodes what it
// returns.
func (e *element) call(ctx context.Context, function string, args, result any) error {
	pending, err := e.start(ctx, function, args)
	if err != nil {
		return err
	}
	return e.outcome(ctx, pending, result)
}

// outcome waits for what comes of a start.
func (e *element) outcome(ctx context.Context, pending *cdp.Pending, result any) error {
	var r runtime.CallFunctionOnResult
	if err := pending.Wait(ctx, &r); err != nil {
		return e.gone(err)
	}
	if r.ExceptionDetails != nil {
		return fmt.Errorf("script on %s: %s", e.target, remote.Exception(r.ExceptionDetails))
	}
	if result == nil || len(r.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(r.Result.Value, result)
}

// gestures are the functions of the library that do what a user's input does, so
// that the page has user activation. The others must leave the page as it is.
var gestures = map[string]bool{"fill": true, "select": true}

// start is call without waiting for what comes of it.
func (e *element) start(ctx context.Context, function string, args any) (*cdp.Pending, error) {
	var arguments []*runtime.CallArgument
	if args != nil {
		encoded, err := json.Marshal(args)
		if err != nil {
			return nil, err
		}
		arguments = []*runtime.CallArgument{{Value: encoded}}
	}
	return e.session.Start(ctx, runtime.CommandCallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: libraryCall(function), ObjectID: e.handle, Arguments: arguments,
		AwaitPromise: new(true), ReturnByValue: new(true), UserGesture: new(gestures[function]),
	})
}

// gone tells an element whose document was replaced while a script ran in it.
func (e *element) gone(err error) error {
	if leftDocument(err) {
		return &StaleRefError{Ref: e.target, Was: e.label, Gone: "its document was replaced"}
	}
	return err
}

// leftDocument recognises the browser's words for a document that was replaced
// while a script ran in it.
func leftDocument(err error) bool {
	var refusal *cdp.Error
	if !errors.As(err, &refusal) {
		return false
	}
	return slices.ContainsFunc([]string{"context was destroyed", "Cannot find context", "navigated or closed", "Could not find object", "Promise was collected"}, func(words string) bool {
		return strings.Contains(refusal.Message, words)
	})
}

// release lets the page collect the element; nobody waits for the reply.
func (e *element) release(ctx context.Context) {
	_, _ = e.session.Start(context.WithoutCancel(ctx), "Runtime.releaseObject", runtime.ReleaseObjectParams{ObjectID: e.handle})
}
