package frame

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// StaleRefError reports a target whose document or element is gone.
type StaleRefError struct {
	Ref  string // or the selector
	Was  string // its label, for example: button "Save"; empty when unknown
	Gone string // what is gone: "its document was replaced", "its element was removed"
	Now  string // ref of the only element that now has the same label; empty when there is none or several
}

func (e *StaleRefError) Error() string {
	was := ""
	if e.Was != "" {
		was = " (" + e.Was + ")"
	}
	if _, numbered := ParseRef(e.Ref); !numbered {
		return fmt.Sprintf("target %q: %s meanwhile: take a new snapshot, or call again", e.Ref, e.Gone)
	}
	if e.Now != "" {
		return fmt.Sprintf("ref %s%s is stale, %s: %s looks the same now; use it if that is meant, or take a new "+
			"snapshot", e.Ref, was, e.Gone, e.Now)
	}
	return fmt.Sprintf("ref %s%s is stale, %s: take a new snapshot and use its refs", e.Ref, was, e.Gone)
}

// TargetError reports a target that matches nothing or several elements, or that the
// operation cannot use.
type TargetError struct {
	Target string
	Reason string
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
		return nil, &TargetError{target, "is empty: give a ref of the last snapshot or a CSS selector"}
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
	var stale *StaleRefError
	if errors.As(err, &stale) {
		stale.Now = alike(ctx, t, stale.Was, entry.frame)
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
func (t *Tree) FindInTime(ctx context.Context, target string, until time.Time) (*Element, error) {
	for {
		e, err := t.Find(ctx, target)
		var missing *TargetError
		rest := time.Until(until)
		if !errors.As(err, &missing) || !NoMatch(err) || rest <= 0 {
			return e, err
		}
		session, world, err := t.World(ctx, t.Main())
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
// library knows selectors that are not CSS.
func matches(selector string) string {
	return "CSS.supports('selector(' + " + jsString(selector) + " + ')') ? " +
		"document[$.querySelector](" + jsString(selector) + ") : library.query(" + jsString(selector) + ")"
}

// jsString is a JavaScript string literal.
func jsString(s string) string {
	literal, _ := json.Marshal(s) // a string has a JSON form
	return string(literal)
}

// Focus is the element that gets the keys.
type Focus struct {
	Identity
	Text bool // it takes text
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
	stale := &StaleRefError{Ref: e.Target, Was: e.Label, Gone: "its element was removed"}
	if _, numbered := ParseRef(e.Target); numbered {
		stale.Now = alike(ctx, t, e.Label, e.Frame)
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
		return entry, &StaleRefError{Ref: target, Was: entry.label, Gone: "its document was replaced"}
	case n <= 0 || n > t.opts.Refs.Last():
		return entry, &TargetError{target, "no snapshot has given out that ref: take one and use its refs"}
	}
	if label, where, ok := t.opts.Elsewhere(n); ok {
		return entry, &TargetError{target, fmt.Sprintf("is %s of another tab, %s: select that tab first "+
			"(browser_tabs), or take a snapshot of this one", label, where)}
	}
	return entry, &StaleRefError{Ref: target, Gone: "its document or tab has gone"}
}

// Numbered looks up an element in the snapshot script's table.
func (t *Tree) Numbered(ctx context.Context, id protocol.FrameID, n int, label string) (*Element, error) {
	stale := &StaleRefError{Ref: "e" + strconv.Itoa(n), Was: label}
	f, _ := t.Frame(id)
	if f.world == 0 {
		stale.Gone = "its frame or document has gone"
		return nil, stale
	}
	r, err := protocol.Call(ctx, f.Session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("memory.watch?.adopt(), memory.elements?.get(%d)?.deref()", n), ContextID: f.world,
	})
	if NoContext(err) {
		stale.Gone = "its document was replaced"
		return nil, stale
	}
	if err != nil {
		return nil, err
	}
	if r.Result == nil || r.Result.ObjectID == "" {
		stale.Gone = "its element was removed"
		return nil, stale
	}
	return &Element{Target: stale.Ref, Label: label, Frame: id, Session: f.Session, Handle: r.Result.ObjectID}, nil
}

// findSelector looks for a selector in the main frame, then in the others, of which only one
// may have a match. It includes shadow roots; closed ones only after a snapshot has adopted
// them.
func (t *Tree) findSelector(ctx context.Context, selector string) (found *Element, err error) {
	err = t.Each(ctx, func(id protocol.FrameID) error {
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
				selector,
				fmt.Sprintf("matches in several frames (%s, %s): take a snapshot and use a ref", first.URL, second.URL),
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

const noMatch = "matches no element"

// nothing is the error for a selector that matches nothing, or only what is hidden.
func nothing(ctx context.Context, t *Tree, selector string) error {
	why := ""
	_ = t.Each(ctx, func(id protocol.FrameID) error {
		if why != "" {
			return nil
		}
		return t.InWorld(ctx, id, func(session *cdp.Session, world runtime.ExecutionContextID) error {
			return evaluate(ctx, session, world, "library.unmatched("+jsString(selector)+")", &why)
		})
	})
	return &TargetError{selector, noMatch + cmp.Or(why, ": take a snapshot and use a ref of it")}
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

// query returns nil when the frame has no match.
func (t *Tree) query(ctx context.Context, id protocol.FrameID, selector string) (*Element, error) {
	var (
		in *cdp.Session
		r  runtime.EvaluateResult
	)
	err := t.InWorld(ctx, id, func(session *cdp.Session, world runtime.ExecutionContextID) (err error) {
		in = session
		r, err = protocol.Call(ctx, session, runtime.Evaluate, runtime.EvaluateParams{
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
		return nil, &TargetError{selector, remote.Text(r.Result)}
	case r.Result.ObjectID == "":
		return nil, nil
	}
	return &Element{Target: selector, Frame: id, Session: in, Handle: r.Result.ObjectID}, nil
}
