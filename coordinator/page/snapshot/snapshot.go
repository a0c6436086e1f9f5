// Package snapshot reads a page: its accessibility tree as text with refs, the changes
// since the last snapshot, its text and HTML, and the properties of its elements.
package snapshot

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/remote"
)

//go:embed script
var Scripts embed.FS

// Rarely used functions, outside the library of all documents.
var (
	//go:embed shown.js
	shownFunction string
	//go:embed seen.js
	seenFunction string
	//go:embed renumber.js
	renumberFunction string
	//go:embed value.js
	valueFunction string
)

// Config is what a Reader works with. All are required.
type Config struct {
	Run            lifecycle.Run
	Lifecycle      *lifecycle.Lifecycle
	Frames         *frame.Tree
	Screen         *capture.Screen
	Network        *history.Network
	CompareTimeout time.Duration // for the page to report its changes
}

// Reader reads one page. Its methods may be called from any goroutine.
type Reader struct {
	page Config

	numbering sync.Mutex // serializes the numbering of refs; guards lost and customs
	// unnumbered are the frames where the result of the last call that numbered elements did not arrive.
	unnumbered map[protocol.FrameID]bool
	// customs are the documents with elements whose role the browser alone knows, as
	// frame.Frame.Generation.
	customs map[protocol.FrameID]int

	mu   sync.Mutex // guards the fields that follow
	last base       // of the next diff
	// watched is the document that the agent has seen, as frame.Frame.Generation, and known
	// the one that a script in it can compare; -1: none.
	watched, known int
	documents      map[protocol.FrameID]frameDocument
	answered       bool    // the agent has got an answer since the last action began
	deferred       bool    // see Defer
	earlierChanges Changes // see EarlierChanges
	landmarks      landmarks
}

// New returns the reader of a page, which also suggests replacements for stale refs.
func New(config Config) *Reader {
	r := &Reader{
		page: config, unnumbered: map[protocol.FrameID]bool{}, customs: map[protocol.FrameID]int{},
		watched: -1, known: -1,
	}
	config.Frames.SuggestWith(r.similar)
	return r
}

// Options choose what a snapshot shows.
type Options struct {
	Target      string // only this element's subtree; empty: the page
	Depth       int    // levels below the root; 0 means all
	Interactive bool   // only elements that accept an action, as a flat list
	look        string // also note the elements of this role; selfRole: of the target's own
	clipped     bool   // note them also where they are clipped away
	// Diff requests the changes since the last snapshot, if that had the same document and
	// options; otherwise the snapshot is complete.
	Diff bool

	full  bool // each line names its roles
	limit int  // of a glimpse: number of elements after which the outline of each document ends; 0: no limit
	main  bool // of a document with more elements than most, only the main part
}

// selfRole is the role of the target, whichever that is.
const selfRole = "self"

// Snapshot is the accessibility tree as text.
type Snapshot struct {
	URL   string
	Title string
	Text  string // one node per line: - role "name" [attributes] [ref=e1]
	Refs  int    // number of refs in the complete snapshot
	Diff  bool   // Text is a [diff], not the complete snapshot
	Whole string // why a diff was requested, and Text is the complete snapshot; empty: no such thing
}

// Snapshot returns the accessibility tree as text, including frames and open shadow
// roots. Elements that accept an action have a ref. Containers that add nothing are
// omitted. A list item or table row with only leaves is one line with its parts between
// bars.
//
// A script in the page builds the tree. CDP's Accessibility domain has a response that is
// a hundred times larger and slower, and does not know which element a click reaches.
// The browser provides closed shadow roots, see [frame.Tree.Pierce].
func (r *Reader) Snapshot(ctx context.Context, opts Options) (Snapshot, error) {
	var s Snapshot
	err := r.page.Run(ctx, "taking a snapshot", 0, func(ctx context.Context) (err error) {
		s, err = r.snapshot(ctx, opts)
		return err
	})
	return s, err
}

func (r *Reader) snapshot(ctx context.Context, opts Options) (Snapshot, error) {
	var root *frame.Element
	var read outlineResult
	var err error
	if opts.Target != "" {
		root, err = r.page.Frames.Find(ctx, opts.Target)
		if err != nil {
			return Snapshot{}, err
		}
		defer root.Release(ctx)
		read, err = r.outline(ctx, root.Frame, root, opts)
	} else {
		read, err = r.document(ctx, opts)
	}
	if err != nil {
		return Snapshot{}, err
	}
	main := read.of
	if root != nil { // it may be in another frame
		main, _ = r.page.Frames.Frame(r.page.Frames.Main())
	}
	s := Snapshot{URL: main.Address(), Title: read.Title, Text: read.Text, Refs: read.Refs}
	wantsDiff := opts.Diff
	opts.Diff = false
	if root == nil {
		r.noteFrames()
	}
	now := base{options: opts, document: main.Generation, text: s.Text}
	r.mu.Lock()
	defer r.mu.Unlock()
	if root == nil {
		r.watched, r.answered, r.deferred = main.Generation, true, false
		r.earlierChanges = Changes{Heard: r.earlierChanges.Heard} // it shows the rest
	}
	before := r.last
	r.last = now
	if !wantsDiff {
		return s, nil
	}
	changes := ""
	switch {
	case before.text == "":
		s.Whole = "there is no snapshot before it"
	case before.document != now.document:
		s.Whole = "the page has another document since the last snapshot"
	case before.options != now.options:
		s.Whole = "the last snapshot had other options"
	default:
		if changes = diff(withoutInert(before.text), withoutInert(s.Text)); len(changes) >= len(s.Text) {
			s.Whole = "the changes are longer"
		}
	}
	if s.Whole == "" {
		s.Text, s.Diff = changes, true
		r.forget(changes)
	}
	return s, nil
}

// withoutInert is a snapshot without the mark of all that is behind a dialog, which would be most
// of a diff.
func withoutInert(text string) string { return strings.ReplaceAll(text, " [inert]", "") }

// withElement runs an operation on a target.
func (r *Reader) withElement(
	ctx context.Context, operation, target string, do func(context.Context, *frame.Element) error,
) error {
	return r.page.Run(ctx, operation, 0, func(ctx context.Context) error {
		e, err := r.page.Frames.Find(ctx, target)
		if err != nil {
			return err
		}
		defer e.Release(ctx)
		if err := r.page.Frames.Pierce(ctx, e.Frame); err != nil {
			return err
		}
		return do(ctx, e)
	})
}

// Line returns an element's line in a snapshot, with its ref if it accepts an action; empty: it has no line of its
// own.
func (r *Reader) Line(ctx context.Context, e *frame.Element) (string, error) {
	read, err := r.outline(ctx, e.Frame, e, Options{Depth: 1})
	if !read.Own {
		return "", err
	}
	line, _, _ := strings.Cut(read.Text, "\n")
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "- "), ":"), err
}

// document reads the outline of the page's document.
func (r *Reader) document(ctx context.Context, opts Options) (outlineResult, error) {
	return r.ofOne(ctx, func() (outlineResult, error) { return r.outline(ctx, r.page.Frames.Main(), nil, opts) })
}

// ofOne reads the page's document, and again if the page loads another one meanwhile.
func (r *Reader) ofOne(ctx context.Context, read func() (outlineResult, error)) (outlineResult, error) {
	result, err := read()
	for range maxReplaced {
		if !errors.Is(err, frame.ErrGone) && !result.Rootless || result.Rootless && !r.awaitParsed(ctx) {
			break
		}
		result, err = read()
	}
	return result, err
}

// parseTimeout bounds the wait for a document that has just begun.
const parseTimeout = 3 * time.Second

// awaitParsed waits until a document that has just begun is parsed. It returns false if
// the document was parsed before, or is not parsed in time.
func (r *Reader) awaitParsed(ctx context.Context) bool {
	parsed := func() bool { return r.page.Lifecycle.Reached(lifecycle.Parsed) }
	return !parsed() && r.page.Lifecycle.AwaitFor(ctx, parseTimeout, parsed) == nil && parsed()
}

// maxReplaced bounds how often reading restarts because the page loaded another
// document meanwhile.
const maxReplaced = 3

// base is the last snapshot, with which the next diff compares.
type base struct {
	options  Options
	document int // as frame.Frame.Generation of the main frame
	text     string
}

// outlineResult is what snapshot.js returns.
type outlineResult struct {
	Text  string
	Title string
	Refs  int
	Last  int
	// Rootless reports that the document has no root element.
	Rootless bool
	// Sighted alternates numbers and names of the elements to look for. Self is their role.
	Sighted []any
	Self    string
	// Customs is how many elements may have a role that the browser alone knows.
	Customs int
	Known   bool  // a script knows what to compare the document with
	Cut     bool  // Options.most or main has left something out
	Own     bool  // the first line is of the element that was read, not of one in it
	Fresh   []any // alternates numbers and labels of elements whose label is new
	Heard
	of frame.Frame // whose document it is
}

// frameMark marks the position of a frame's content in a text.
const frameMark = "\x01"

// outline prints one document and inserts the documents of its frames.
func (r *Reader) outline(
	ctx context.Context, id protocol.FrameID, root *frame.Element, opts Options,
) (outlineResult, error) {
	read, err := r.outlineDocument(ctx, id, root, opts)
	if err != nil {
		return read, err
	}
	return r.outlineFrames(ctx, id, read, opts)
}

// outlineFrames inserts the documents of the frames of a printed document. In a glimpse there is
// no error: the marks of frames stay that it has no room for, or cannot read in time.
func (r *Reader) outlineFrames(
	ctx context.Context, id protocol.FrameID, read outlineResult, opts Options,
) (outlineResult, error) {
	var b strings.Builder
	frames := 0
	for line := range strings.Lines(read.Text) {
		indent, number, marked := strings.Cut(line, frameMark)
		if !marked || opts.limit > 0 && (frames == maxAppeared || b.Len() > glimpseBytes || ctx.Err() != nil) {
			b.WriteString(line)
			continue
		}
		frames++
		inner, err := r.outlineFrame(ctx, id, strings.TrimSpace(number), opts)
		if err != nil && opts.limit > 0 {
			b.WriteString(line)
			continue
		}
		if err != nil {
			return read, err
		}
		read.Refs += inner.Refs
		read.Cut = read.Cut || inner.Cut
		for line := range strings.Lines(inner.Text) {
			b.WriteString(indent + line)
		}
	}
	read.Text = b.String()
	return read, nil
}

// outlineFrame prints the document of the frame element with that number. The result
// is empty if the frame has gone meanwhile.
func (r *Reader) outlineFrame(
	ctx context.Context, in protocol.FrameID, number string, opts Options,
) (outlineResult, error) {
	n, err := strconv.Atoi(number)
	if err != nil {
		return outlineResult{}, fmt.Errorf("frame mark %q: %w", number, err)
	}
	if opts.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.page.CompareTimeout/frameShare)
		defer cancel()
	}
	e, err := r.page.Frames.Numbered(ctx, in, n, "iframe")
	if err == nil {
		defer e.Release(ctx)
		var node dom.DescribeNodeResult
		if node, err = protocol.Call(ctx, e.Session, dom.DescribeNode, dom.DescribeNodeParams{
			ObjectID: e.Handle,
		}); err == nil {
			r.page.Frames.Flush()
			var read outlineResult
			if read, err = r.outline(ctx, node.Node.FrameID, nil, opts); err == nil {
				if f, there := r.page.Frames.Frame(node.Node.FrameID); there && !read.Known {
					_, _ = r.changesIn(ctx, f, false) // so that what comes next can be compared with the whole
				}
				return read, nil
			}
		}
	}
	switch {
	case errors.As(err, new(*frame.BoundsError)):
		return outlineResult{Text: "- (out of bounds)\n"}, nil
	case frame.Vanished(err):
		return outlineResult{}, nil
	}
	return outlineResult{}, err
}

// callOutline runs snapshot.js, on an element or in a world.
func callOutline(
	ctx context.Context, session *cdp.Session, params runtime.CallFunctionOnParams,
) (outlineResult, error) {
	var read outlineResult
	var reply runtime.CallFunctionOnResult
	var err error
	if params.ObjectID != "" {
		reply, err = protocol.Call(ctx, session, runtime.CallFunctionOn, params)
	} else {
		var whole runtime.EvaluateResult
		whole, err = frame.EvaluateIn(ctx, session, runtime.EvaluateParams{
			Expression: frame.Apply(params.FunctionDeclaration, params.Arguments[0].Value),
			ContextID:  params.ExecutionContextID, ReturnByValue: params.ReturnByValue,
		})
		reply = runtime.CallFunctionOnResult(whole)
	}
	if err != nil {
		return read, err
	}
	if reply.ExceptionDetails != nil {
		return read, fmt.Errorf("snapshot script: %s", remote.Exception(reply.ExceptionDetails))
	}
	if err := json.Unmarshal([]byte(remote.Text(reply.Result)), &read); err != nil {
		return read, fmt.Errorf("snapshot script: %w", err)
	}
	return read, nil
}

// maxLost is more than the numbers that one call gives.
const maxLost = 100_000

// received notes whether the result of a call that numbers elements has arrived. A page that is
// busy runs the script later than this side waits for it. numbering is held.
func (r *Reader) received(id protocol.FrameID, err error) {
	if err != nil {
		r.unnumbered[id] = true
		r.page.Frames.Refs().Skip(maxLost)
	} else {
		delete(r.unnumbered, id)
	}
}

func (r *Reader) outlineDocument(
	ctx context.Context, id protocol.FrameID, root *frame.Element, opts Options,
) (outlineResult, error) {
	var read outlineResult
	// Only one snapshot runs at a time, even while it waits for a world: each continues the
	// numbers of the previous one.
	r.numbering.Lock()
	defer r.numbering.Unlock()
	if err := r.page.Frames.Pierce(ctx, id); err != nil {
		return outlineResult{}, err
	}
	last := r.page.Frames.Refs().Last()
	params := runtime.CallFunctionOnParams{FunctionDeclaration: frame.Call("snapshot"), ReturnByValue: new(true)}
	var session *cdp.Session
	look := func() error {
		f, _ := r.page.Frames.Frame(id)
		options := map[string]any{
			"last": last, "lost": r.unnumbered[id], "generation": f.Generation, "depth": opts.Depth,
			"interactive": opts.Interactive, "look": opts.look, "clipped": opts.clipped,
			"full": opts.full,
		}
		// An action that fails takes none of its own notices away, nor does a single line.
		options["notices"] = opts.look == "" && opts.Depth != 1 && opts.limit == 0 && !(opts.Interactive && opts.full)
		if opts.limit > 0 {
			options["most"], options["main"], options["landmarks"] = opts.limit, opts.main, true
		}
		args, err := json.Marshal(options)
		if err != nil {
			return err
		}
		params.Arguments = []*runtime.CallArgument{{Value: args}}
		fresh := read.Fresh
		read, err = callOutline(ctx, session, params)
		r.received(id, err)
		r.noteEarlier(Changes{Heard: read.Heard})
		read.of, read.Fresh = f, append(fresh, read.Fresh...)
		last = max(last, read.Last)
		return err
	}
	var err error
	if root != nil {
		session, params.ObjectID = root.Session, root.Handle
		err = look()
	} else {
		err = r.page.Frames.InWorld(ctx, id, func(in *cdp.Session, world runtime.ExecutionContextID) error {
			session, params.ExecutionContextID = in, world
			return look()
		})
	}
	if err == nil && read.Customs > 0 {
		var fresh bool
		if fresh, err = internals(ctx, r.page.Frames, session, id); cdp.Refused(err) {
			err = frame.ErrGone // its document is being replaced
		}
		if fresh && err == nil {
			err = look()
		}
	}
	if err == nil {
		f, _ := r.page.Frames.Frame(id)
		r.note(f, read.Customs)
		if id == r.page.Frames.Main() {
			r.noteKnown(f.Generation, read.Known)
		}
		r.page.Frames.Flush()
	}
	// Also after an error: the calls of look before it have numbered elements.
	return read, cmp.Or(err, r.page.Frames.AddRefs(id, params.ExecutionContextID, last, refsOf(read.Fresh)))
}

// refsOf reads what alternates numbers and labels.
func refsOf(fresh []any) []frame.Ref {
	var refs []frame.Ref
	for i := 0; i+1 < len(fresh); i += 2 {
		n, _ := fresh[i].(float64)
		label, _ := fresh[i+1].(string)
		refs = append(refs, frame.Ref{Number: int(n), Label: label})
	}
	return refs
}

// similar returns the ref of the only current element with the role and name of a stale
// one. The ref is a suggestion; no action uses it by itself.
func (r *Reader) similar(ctx context.Context, label string) string {
	if !strings.Contains(label, `"`) {
		return ""
	}
	now, err := r.outline(ctx, r.page.Frames.Main(), nil, Options{Interactive: true, full: true})
	if err != nil {
		return ""
	}
	found := ""
	text, _ := marked(now.Text)
	for line := range strings.Lines(text) {
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
