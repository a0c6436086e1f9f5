package frame

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// StaleRefError reports a target whose document or element is gone.
type StaleRefError struct {
	Ref         string // or the selector
	Label       string // its label, for example: button "Save"; empty when unknown
	Cause       string // what is gone: "its document was replaced", "its element was removed"
	Replacement string // ref of the only element that now has the same label; empty when there is none or several
}

func (e *StaleRefError) Error() string {
	previous := ""
	if e.Label != "" {
		previous = " (" + e.Label + ")"
	}
	if _, numbered := ParseRef(e.Ref); !numbered {
		return fmt.Sprintf("target %q: %s meanwhile: take a new snapshot, or call again", e.Ref, e.Cause)
	}
	if e.Replacement != "" {
		return fmt.Sprintf("ref %s%s is stale, %s: %s looks the same now; use it if that is meant, or take a new "+
			"snapshot", e.Ref, previous, e.Cause, e.Replacement)
	}
	return fmt.Sprintf("ref %s%s is stale, %s: take a new snapshot and use its refs", e.Ref, previous, e.Cause)
}

// TargetError reports a target that matches nothing or several elements, or that the
// operation cannot use.
type TargetError struct {
	Target string
	Reason string

	frame protocol.FrameID // in which the target was looked for; empty: in all
}

func (e *TargetError) Error() string { return fmt.Sprintf("target %q: %s", e.Target, e.Reason) }

// SuggestWith sets similar, which finds the ref of the only element that now has the label
// of a stale one. It must be called once, before the tree is used.
func (t *Tree) SuggestWith(similar func(ctx context.Context, label string) string) {
	t.similar = similar
}

// Find resolves a target to an element.
func (t *Tree) Find(ctx context.Context, target string) (*Element, error) {
	target = strings.TrimSpace(target)
	if target == "" {
		return nil, &TargetError{Target: target, Reason: "is empty: give a ref of the last snapshot or a CSS selector"}
	}
	n, numbered := ParseRef(target)
	if !numbered {
		return t.findSelector(ctx, target)
	}
	if err := t.Learn(ctx); err != nil { // it may be in a document that has come back
		return nil, err
	}
	entry, err := t.lookUpRef(target, n)
	if err == nil {
		var e *Element
		e, err = t.Numbered(ctx, entry.frame, n, entry.label)
		// The events received by now decide whether the document still exists.
		t.opts.Flush()
		if _, stale := t.lookUpRef(target, n); stale != nil {
			err = stale
		}
		if err == nil {
			e.Target = target
			return e, nil
		}
	}
	if stale, ok := errors.AsType[*StaleRefError](err); ok {
		stale.Replacement = alike(ctx, t, stale.Label, entry.frame)
	}
	return nil, err
}

// alike is the ref of the only element that now has a label, if it is in that frame.
func alike(ctx context.Context, t *Tree, label string, in protocol.FrameID) string {
	now := t.similar(ctx, label)
	n, _ := ParseRef(now)
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, _ := t.refs.entry(n, t.frames); e.frame != in {
		return ""
	}
	return now
}

// FindInTime is Find for a selector that may match only after the page has loaded. It
// waits for a match in the main frame, across documents.
func (t *Tree) FindInTime(ctx context.Context, target string, deadline time.Time) (*Element, error) {
	var refreshing sync.WaitGroup
	defer refreshing.Wait()
	waiting, end := context.WithCancel(ctx)
	defer end()
	for first := true; ; first = false {
		e, err := t.Find(ctx, target)
		var missing *TargetError
		rest := time.Until(deadline)
		if !errors.As(err, &missing) || !NoMatch(err) || rest <= 0 {
			return e, err
		}
		if first {
			refreshing.Go(func() { t.RefreshAll(waiting) })
		}
		session, world, err := t.World(ctx, cmp.Or(missing.frame, t.Main()))
		if err == nil { // the browser refuses this when the document is replaced
			var matched bool
			err = evaluate(ctx, session, world, UntilTrue(matches(missing.Target), rest), &matched)
		}
		if err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// matches is an expression that is true when a selector matches in the document. Only our
// library knows selectors that are not CSS, and looks in shadow roots.
func matches(selector string) string {
	return "CSS.supports('selector(' + " + jsString(selector) + " + ')') && " +
		"document[$.querySelector](" + jsString(selector) + ") || library.query(" + jsString(selector) + ")"
}

// jsString is a JavaScript string literal.
func jsString(s string) string {
	literal, _ := json.Marshal(s) // a string has a JSON form
	return string(literal)
}

// Focus is the element that gets the keys.
type Focus struct {
	Identity
	Text  bool             // it takes text
	Frame protocol.FrameID `json:"-"` // whose document gets the keys; empty: not known
}

// Focused is what gets the keys. Its role is empty if nothing has the focus.
func (t *Tree) Focused(ctx context.Context) (Focus, error) {
	var outer Focus
	for id := t.Main(); ; {
		var is struct {
			Focus
			Apart bool
		}
		var owner *Element
		err := t.InWorld(ctx, id, func(session *cdp.Session, world runtime.ExecutionContextID) error {
			err := evaluate(ctx, session, world, "library.focused()", &is)
			if err != nil || !is.Apart {
				return err
			}
			r, err := protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{
				Expression: "library.focused(true)", ContextID: world,
			})
			if err == nil && r.Result != nil {
				owner = &Element{Frame: id, Session: session, Handle: r.Result.ObjectID}
			}
			return err
		})
		outer.Frame = ""
		if err == nil && !is.Apart { // else a frame in it gets the keys
			is.Frame, outer.Frame = id, id
		}
		if is.Role == "" {
			return outer, err
		}
		if err != nil || owner == nil {
			return is.Focus, err
		}
		node, err := protocol.Call(ctx, owner.Session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: owner.Handle})
		owner.Release(ctx)
		if err != nil || node.Node.FrameID == "" {
			return is.Focus, err
		}
		id, outer = node.Node.FrameID, is.Focus
	}
}

// Removed is the error for an element that is no longer in its document.
func (t *Tree) Removed(ctx context.Context, e *Element) error {
	stale := &StaleRefError{Ref: e.Target, Label: e.Label, Cause: "its element was removed"}
	if _, numbered := ParseRef(e.Target); numbered {
		stale.Replacement = alike(ctx, t, e.Label, e.Frame)
	}
	return stale
}

// lookUpRef returns the entry of a ref whose document still exists.
func (t *Tree) lookUpRef(target string, n int) (refEntry, error) {
	t.mu.Lock()
	entry, ok := t.refs.entry(n, t.frames)
	stale := ok && entry.isStale(t.frames)
	t.mu.Unlock()
	switch {
	case ok && !stale:
		return entry, nil
	case ok:
		return entry, &StaleRefError{Ref: target, Label: entry.label, Cause: "its document was replaced"}
	case n <= 0 || n > t.opts.Refs.Last():
		return entry, &TargetError{Target: target, Reason: "no snapshot has given out that ref: take one and use its refs"}
	}
	if label, place, ok := t.opts.Elsewhere(n); ok {
		return entry, &TargetError{Target: target, Reason: fmt.Sprintf("is %s of another tab, %s: select that tab first "+
			"(browser_tabs), or take a snapshot of this one", label, place)}
	}
	return entry, &StaleRefError{Ref: target, Cause: "its document or tab has gone"}
}

// Numbered looks up an element in the snapshot script's table.
func (t *Tree) Numbered(ctx context.Context, id protocol.FrameID, n int, label string) (*Element, error) {
	stale := &StaleRefError{Ref: "e" + strconv.Itoa(n), Label: label}
	f, _ := t.Frame(id)
	if f.world == 0 {
		stale.Cause = "its frame or document has gone"
		return nil, stale
	}
	r, err := protocol.Call(ctx, f.Session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("memory.watch?.adopt(), memory.elements?.get(%d)?.deref()", n), ContextID: f.world,
	})
	if NoContext(err) {
		stale.Cause = "its document was replaced"
		return nil, stale
	}
	if err != nil {
		return nil, err
	}
	if r.Result == nil || r.Result.ObjectID == "" {
		stale.Cause = "its element was removed"
		return nil, stale
	}
	return &Element{Target: stale.Ref, Label: label, Frame: id, Session: f.Session, Handle: r.Result.ObjectID}, nil
}

// findSelector looks for a selector in the main frame, then in the others, of which only one
// may have a match. It includes shadow roots.
func (t *Tree) findSelector(ctx context.Context, selector string) (found *Element, err error) {
	if _, _, within := cutFrame(selector); within {
		return t.findWithin(ctx, selector)
	}
	err = t.ForEach(ctx, func(id protocol.FrameID) error {
		if found != nil && found.Frame == t.Main() {
			return nil
		}
		e, err := t.query(ctx, id, selector)
		if e == nil || err != nil {
			return err
		}
		if found != nil {
			first, _ := t.Frame(found.Frame)
			second, _ := t.Frame(id)
			err = &TargetError{
				Target: selector,
				Reason: fmt.Sprintf("matches in several frames (%s, %s): take a snapshot and use a ref", first.URL, second.URL),
			}
			e.Release(ctx)
			return err
		}
		found = e
		return nil
	})
	switch {
	case err != nil && found != nil:
		found.Release(ctx)
		return nil, err
	case err == nil && found == nil:
		err = nothing(ctx, t, selector)
	}
	return found, err
}

// framePattern matches the beginning of a locator of Playwright's that leads into a frame.
var framePattern = sync.OnceValue(func() *regexp.Regexp {
	const text = `\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\)`
	return regexp.MustCompile(`^(?:page\.)?(?:locator` + text + `\.contentFrame\(\)|frameLocator` + text +
		`)\s*(?:\.|>>)\s*`)
})

var escaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\(.)`) })

// cutFrame cuts the selector of a frame's element from what is selected in the frame.
func cutFrame(selector string) (owner, rest string, ok bool) {
	found := framePattern().FindStringSubmatch(selector)
	if found == nil {
		return "", selector, false
	}
	return escaped().ReplaceAllString(strings.Join(found[1:], ""), "$1"), selector[len(found[0]):], true
}

// findWithin finds what a selector matches that names the frame, and those around it.
func (t *Tree) findWithin(ctx context.Context, selector string) (*Element, error) {
	for id, rest := t.Main(), selector; ; {
		owner, inner, within := cutFrame(rest)
		part := owner
		if !within {
			part = inner
		}
		e, err := t.query(ctx, id, part)
		if err == nil && e == nil {
			err = &TargetError{Target: part, Reason: noMatch + " in the document that " + selector + " leads to: take a " +
				"snapshot and use a ref of it", frame: id}
		}
		if err != nil {
			return nil, err
		}
		if !within {
			e.Target = selector
			return e, nil
		}
		described, err := protocol.Call(ctx, e.Session, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: e.Handle})
		e.Release(ctx)
		if err != nil {
			return nil, err
		}
		if described.Node.FrameID == "" || !isFrame(described.Node) {
			return nil, &TargetError{Target: selector, Reason: part + " is no frame"}
		}
		id, rest = described.Node.FrameID, inner
	}
}

func isFrame(n *protocol.Node) bool {
	return slices.Contains([]string{"IFRAME", "FRAME", "OBJECT", "EMBED"}, n.NodeName)
}

const noMatch = "matches no element"

// nothing is the error for a selector that matches nothing, or only what is hidden.
func nothing(ctx context.Context, t *Tree, selector string) error {
	reason := ""
	_ = t.ForEach(ctx, func(id protocol.FrameID) error {
		if reason != "" {
			return nil
		}
		return t.InWorld(ctx, id, func(session *cdp.Session, world runtime.ExecutionContextID) error {
			return evaluate(ctx, session, world, "library.unmatched("+jsString(selector)+")", &reason)
		})
	})
	return &TargetError{Target: selector, Reason: noMatch + cmp.Or(reason, ": take a snapshot and use a ref of it")}
}

// NoMatch reports whether a selector matches nothing.
func NoMatch(err error) bool {
	var missing *TargetError
	return errors.As(err, &missing) && strings.HasPrefix(missing.Reason, noMatch)
}

// untilTrue checks an expression at every frame that the browser draws, and every 100 ms
// if it draws none.
const untilTrue = `new Promise((done, fail) => {
  const test = () => (%s
);
  let last, over = false;
  setTimeout(() => { over = true; last ? fail(last) : done(false); }, %d);
  const look = async () => {
    try {
      last = undefined;
      if (await test()) return done(true);
    } catch (e) {
      last = e;
    }
    if (over) return;
    let looked = false;
    const again = () => { if (!looked) { looked = true; look(); } };
    requestAnimationFrame(again);
    setTimeout(again, 100);
  };
  look();
})`

// UntilTrue is a promise that resolves to true once an expression is true, or to false
// after the timeout. It rejects with the expression's last exception, if any.
func UntilTrue(expression string, timeout time.Duration) string {
	return fmt.Sprintf(untilTrue, expression, timeout.Milliseconds())
}

// query returns nil when the frame has no match. Closed shadow roots that have come since the document was last looked
// at are looked for only then: that takes longer than all the rest.
func (t *Tree) query(ctx context.Context, id protocol.FrameID, selector string) (*Element, error) {
	e, err := t.queryKnown(ctx, id, selector)
	if e != nil || err != nil {
		return e, err
	}
	if err := t.Refresh(ctx, id); err != nil {
		return nil, err
	}
	return t.queryKnown(ctx, id, selector)
}

func (t *Tree) queryKnown(ctx context.Context, id protocol.FrameID, selector string) (*Element, error) {
	var (
		in *cdp.Session
		r  runtime.EvaluateResult
	)
	err := t.InWorld(ctx, id, func(session *cdp.Session, world runtime.ExecutionContextID) (err error) {
		in = session
		r, err = EvaluateIn(ctx, session, runtime.EvaluateParams{
			Expression: "library.query(" + jsString(selector) + ")", ContextID: world,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.ExceptionDetails != nil {
		return nil, fmt.Errorf("look for %q: %s", selector, remote.Exception(r.ExceptionDetails))
	}
	switch {
	case r.Result.Type == runtime.RemoteObjectTypeString: // why the selector is unusable
		return nil, &TargetError{Target: selector, Reason: remote.Text(r.Result)}
	case r.Result.ObjectID == "":
		return nil, nil
	}
	return &Element{Target: selector, Frame: id, Session: in, Handle: r.Result.ObjectID}, nil
}
