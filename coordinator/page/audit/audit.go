// Package audit finds barriers in a page for people with disabilities, by axe-core.
package audit

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/remote"
	"browser-coordinator/coordinator/page/snapshot"
)

// compressed is axe-core as npm has it. Its licence is beside it.
//
//go:embed axe/axe.min.js.gz
var compressed []byte

//go:embed audit.js
var auditFunction string

// shadowable are the properties of the DOM that axe-core reads, and that the fields of a form, or the
// images of a document, can shadow by their names.
const shadowable = "nodeName nodeType tagName localName classList className attributes children childNodes parentNode " +
	"parentElement getAttribute hasAttribute hasAttributes getAttributeNS setAttribute matches closest querySelector " +
	"querySelectorAll getElementById getElementsByTagName getRootNode ownerDocument nextSibling previousSibling " +
	"firstChild contains compareDocumentPosition shadowRoot host assignedSlot id title textContent innerText " +
	"innerHTML outerHTML cloneNode getBoundingClientRect getClientRects offsetWidth offsetHeight clientWidth " +
	"clientHeight scrollWidth scrollHeight scrollTop scrollLeft isConnected namespaceURI labels documentElement body " +
	"head defaultView elementFromPoint elementsFromPoint styleSheets readyState location createElement " +
	"createTreeWalker nodeValue appendChild removeChild addEventListener lang style"

// library is axe-core's script, which reads the DOM under the symbols of frame/dom.js, as our own
// scripts do. It is unpacked on first use.
var library = sync.OnceValue(func() string {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic(err) // the binary embeds it
	}
	unpacked, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return underSymbols(string(unpacked))
})

// underSymbols makes a script read each shadowable property under its symbol. Objects of its own have
// properties of these names too, and give them under the symbols as well.
func underSymbols(script string) string {
	property := regexp.MustCompile(`\??\.(` + strings.ReplaceAll(shadowable, " ", "|") + `)\b`)
	var b strings.Builder
	b.WriteString("(function (dom$) {\n")
	for name := range strings.FieldsSeq(shadowable) { // a getter each: one for all would be slow
		fmt.Fprintf(&b, "const dom$%[1]s = dom$.%[1]s; Object.defineProperty(Object.prototype, dom$%[1]s, {"+
			"configurable: true, get() { return this.%[1]s }, set(value) { this.%[1]s = value } });\n", name)
	}
	last := 0
	for _, at := range property.FindAllStringSubmatchIndex(script, -1) {
		if before := script[max(0, at[0]-20):at[0]]; !isValue.MatchString(before) || isOther.MatchString(before) {
			continue
		}
		b.WriteString(script[last:at[0]])
		if script[at[0]] == '?' {
			b.WriteString("?.")
		}
		b.WriteString("[dom$" + script[at[2]:at[3]] + "]")
		last = at[1]
	}
	b.WriteString(script[last:])
	b.WriteString("\n})($)")
	return b.String()
}

var (
	// isValue matches what is before a property of it.
	isValue = regexp.MustCompile(`[\w$)\]]$`)
	// isOther matches what is before a name in a message, which is no code, and before a deletion.
	isOther = regexp.MustCompile(`(\$\{data|\bdelete \w+)$`)
)

// Options of an Auditor. All are required.
type Options struct {
	Run lifecycle.Run
	// Script runs a script that computes for long. One that never ends is stopped:
	// [lifecycle.ErrEndless].
	Script func(ctx context.Context, s *cdp.Session, run func(context.Context) error) error
	Frames *frame.Tree
	Reader *snapshot.Reader
}

// Auditor audits one page.
type Auditor struct{ opts Options }

// New returns the auditor of a page.
func New(opts Options) *Auditor { return &Auditor{opts} }

// Report is the result of an audit.
type Report struct {
	Findings []Finding // the most serious first
	Unsure   int       // elements that only a person can judge
}

// Finding is an element that breaks a rule.
type Finding struct {
	Rule, Impact, Help, URL string
	Element                 string   // its line in a snapshot, with its ref if it accepts an action
	Selector                string   // in its frame
	Frame                   string   // the address of its frame; empty: the page itself
	Any, All                []string // what repairs it: one of these, and all of those
}

const (
	// timeout bounds an audit: axe-core looks at each element with each rule.
	timeout = time.Minute
	// mostElements bounds the elements that are read again for their lines.
	mostElements = 200
)

var errEndless = errors.New("axe-core did not end in time and was stopped; the page lives on. The document is large: " +
	"audit its parts, one by one: give target")

// Audit audits the page with its frames, or one element without the frames in it.
func (a *Auditor) Audit(ctx context.Context, target string) (r Report, err error) {
	err = a.opts.Run(ctx, "auditing the page", timeout, func(ctx context.Context) error {
		if target == "" {
			return a.opts.Frames.ForEach(ctx, func(id protocol.FrameID) error { return a.audit(ctx, id, nil, &r) })
		}
		e, err := a.opts.Frames.Find(ctx, target)
		if err != nil {
			return err
		}
		defer e.Release(ctx)
		return a.audit(ctx, e.Frame, e, &r)
	})
	impacts := []string{"critical", "serious", "moderate", "minor"}
	slices.SortStableFunc(r.Findings, func(x, y Finding) int {
		return slices.Index(impacts, x.Impact) - slices.Index(impacts, y.Impact)
	})
	return r, err
}

// audited is what audit.js returns.
type audited struct {
	Rules []struct {
		ID, Impact, Help, URL string
		Nodes                 []struct {
			Selector string
			Any, All []string
			Index    int
		}
	}
	Unsure int
}

// audit audits the document of a frame, or an element of it.
func (a *Auditor) audit(ctx context.Context, id protocol.FrameID, e *frame.Element, r *Report) error {
	var found audited
	err := a.opts.Frames.InWorld(ctx, id, func(s *cdp.Session, world runtime.ExecutionContextID) error {
		if err := load(ctx, s, world); err != nil {
			return err
		}
		err := a.opts.Script(ctx, s, func(ctx context.Context) error {
			if e != nil {
				return e.Run(ctx, "function () { return ("+auditFunction+")(this) }", nil, &found)
			}
			return frame.CallIn(ctx, s, world, frame.InDOM(auditFunction), nil, &found)
		})
		if err != nil {
			unload(ctx, s, world)
		}
		return err
	})
	if errors.Is(err, lifecycle.ErrEndless) {
		return errEndless
	}
	if err != nil {
		return err
	}
	r.Unsure += found.Unsure
	in := ""
	if f, ok := a.opts.Frames.Frame(id); ok && f.Parent != "" {
		in = f.URL
	}
	for _, rule := range found.Rules {
		for _, node := range rule.Nodes {
			finding := Finding{
				Rule: rule.ID, Impact: rule.Impact, Help: rule.Help, URL: rule.URL,
				Selector: node.Selector, Frame: in, Any: node.Any, All: node.All,
			}
			if len(r.Findings) < mostElements {
				finding.Element = a.line(ctx, id, node.Index)
			}
			r.Findings = append(r.Findings, finding)
		}
	}
	return nil
}

// load defines axe-core in our world of a document, unless it is there: the page does not see it.
func load(ctx context.Context, s *cdp.Session, world runtime.ExecutionContextID) error {
	// An element with the id axe is in the global object's prototype.
	for _, expression := range []string{"Object.hasOwn(globalThis, 'axe') && typeof axe", library() + "; 0"} {
		r, err := protocol.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{
			Expression: expression, ContextID: world, ReturnByValue: new(true), Silent: new(true),
		})
		if err != nil {
			return err
		}
		if r.ExceptionDetails != nil {
			return fmt.Errorf("load axe-core: %s", remote.Exception(r.ExceptionDetails))
		}
		if string(r.Result.Value) == `"object"` {
			return nil
		}
	}
	return nil
}

// unload makes the next audit load axe-core again: a stopped one believes that it still runs.
func unload(ctx context.Context, s *cdp.Session, world runtime.ExecutionContextID) {
	_, _ = s.Start(context.WithoutCancel(ctx), runtime.CommandEvaluate, runtime.EvaluateParams{
		Expression: "axe = undefined", ContextID: world, Silent: new(true),
	})
}

// line is the line in a snapshot of an element that audit.js has kept; empty: it has none.
func (a *Auditor) line(ctx context.Context, id protocol.FrameID, index int) (line string) {
	_ = a.opts.Frames.InWorld(ctx, id, func(s *cdp.Session, world runtime.ExecutionContextID) error {
		r, err := protocol.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{
			Expression: fmt.Sprintf("memory.audited?.[%d]", index), ContextID: world, Silent: new(true),
		})
		if err != nil || r.Result.ObjectID == "" {
			return err
		}
		e := &frame.Element{Target: "the element", Frame: id, Session: s, Handle: r.Result.ObjectID}
		defer e.Release(ctx)
		line, err = a.opts.Reader.Line(ctx, e)
		return err
	})
	return strings.TrimSpace(line)
}
