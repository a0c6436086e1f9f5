// Package observe records what the user does in a page, as steps that an agent can repeat.
package observe

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/javascript"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/snapshot"
)

//go:embed observe.js
var observeFunction string

// Limits of what a page can make the recording keep.
const (
	MaxSteps   = 500
	maxMessage = 100_000 // bytes
	maxFrames  = 200
	maxWorlds  = 1_000
	maxPending = 50 // documents that the browser has not explained yet
)

// Timeouts of what is asked of the browser meanwhile, and at the end: a page may hang.
const (
	askTimeout = 5 * time.Second
	endTimeout = time.Second
)

// ErrUnderWay reports that the user's steps are being recorded: what an agent does then would pass
// for the user's.
var ErrUnderWay = errors.New("what the user does in this tab is being recorded, so nothing was done: wait for the " +
	"end, or end it with browser_record_user, end true")

// Options of an Observer. All are required.
type Options struct {
	Run       lifecycle.Run
	Lifecycle *lifecycle.Lifecycle
	Session   *cdp.Session // of the page itself
	Frames    *frame.Tree
	Reader    *snapshot.Reader
	Library   func() string // as the frames have it
	// Shows reports why the agent may not read a document in the main frame.
	Shows func(address string) error
	// Go starts a goroutine that the browser's connection waits for. It fails once that has ended.
	Go func(func()) error
}

// Observer records what the user does in one page.
type Observer struct {
	opts Options

	mu    sync.Mutex // guards the fields that follow
	watch *watch     // nil: nothing is recorded
}

// New returns the observer of a page.
func New(opts Options) *Observer { return &Observer{opts: opts} }

// Kind is what the user did. Each is an action of browser_steps, but Moved and Missed.
type Kind string

const (
	Click    Kind = "click"
	Type     Kind = "type"
	Press    Kind = "press"
	Select   Kind = "select"
	Check    Kind = "check"
	Upload   Kind = "upload"
	Drag     Kind = "drag"
	Dialog   Kind = "dialog"
	Navigate Kind = "navigate"
	Arrive   Kind = "expect" // what was done before has opened another document
	Moved    Kind = "moved"  // through the history, or to the same document again, by the user or a script
	Missed   Kind = "missed" // what it was is not known
)

// Step is something that the user did.
type Step struct {
	Kind      Kind
	On, To    *Target      // nil: nothing is aimed at
	Text      string       // typed, or entered into a prompt
	Password  bool         // of Type: the text was never read
	Long      bool         // of Type: the text is too long to be kept
	Key       string       // of Press
	Values    []string     // of Select
	Files     []string     // of Upload: their names
	Button    string       // of Click; empty: the left one
	Modifiers []string     // of Click
	Double    bool         // of Click
	Position  *frame.Point // of Click; nil: it does not matter
	State     bool         // of Check; of Dialog: it was accepted
	URL       string       // of Navigate, Arrive and Moved
	Opened    *lifecycle.Dialog

	of   fieldKey
	time float64 // of its event, in milliseconds; 0: not known
}

// Describe is what the user did, for people.
func (s *Step) Describe() string {
	what := map[Kind]string{
		Click: "a click", Type: "typing", Press: "pressing " + s.Key, Select: "choosing options", Check: "checking",
		Upload: "choosing files", Drag: "dragging", Dialog: "answering a dialog", Arrive: "reaching " + s.URL,
		Navigate: "opening " + s.URL, Missed: "something in the page that could not be read",
		Moved: "the tab has gone to " + s.URL + " by its history or a reload, by the user or by a script",
	}[s.Kind]
	if s.On != nil {
		what += " in " + s.On.Identity.String()
	}
	return what
}

// fieldKey identifies an element while its document lives.
type fieldKey struct {
	world  worldKey
	number int
}

// Target is an element.
type Target struct {
	frame.Identity
	// Selector finds it alone in its document; empty: nothing does.
	Selector string
	// Locator is Playwright's, in its document.
	Locator javascript.Expression

	frame *framePath // nil: the main frame
}

// Frame is Playwright's locator of the element's frame; zero: the main frame. ok is false if the
// frame had gone before that was known.
func (t *Target) Frame() (locator javascript.Expression, ok bool) {
	if t.frame == nil {
		return locator, true
	}
	return t.frame.locator, t.frame.known
}

// framePath is where a frame is. It is complete when the recording has ended.
type framePath struct {
	locator javascript.Expression
	known   bool
}

// worldKey identifies our world in a document: ids are unique only per process.
type worldKey struct {
	session *cdp.Session
	id      runtime.ExecutionContextID
}

// watch is a recording.
type watch struct {
	world, binding string
	ctx            context.Context // of what is asked of the browser
	ended          chan struct{}   // closed by stop
	stop           func()          // may be called more than once
	work           sync.WaitGroup
	documents      chan *Step // those that the browser must explain

	// The observer's mu guards these.
	worlds  map[worldKey]protocol.FrameID
	frames  map[protocol.FrameID]*framePath
	scripts map[*cdp.Session]cdppage.ScriptIdentifier
	entries map[int64]bool // those of the tab's history
	steps   []*Step
	pending int // documents that are not explained yet
	isFull  bool
}

// Recording is what was recorded.
type Recording struct {
	URL   string // where it began
	Steps []Step
	Full  bool  // there was more
	Ended error // the page's end, which ended the recording too
}

// Record records until [Observer.End], or until the limit, the page's end or MaxSteps is reached. It
// calls ready as soon as what the user does counts.
func (o *Observer) Record(ctx context.Context, limit time.Duration, ready func()) (Recording, error) {
	asking, stopAsking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopAsking()
	w := &watch{
		world: "browser-coordinator records " + rand.Text()[:8], binding: "record" + rand.Text(), ctx: asking,
		ended: make(chan struct{}), documents: make(chan *Step, maxPending),
		worlds: map[worldKey]protocol.FrameID{}, frames: map[protocol.FrameID]*framePath{},
		scripts: map[*cdp.Session]cdppage.ScriptIdentifier{}, entries: map[int64]bool{},
	}
	w.stop = sync.OnceFunc(func() { close(w.ended) })
	explained := make(chan struct{})
	o.mu.Lock()
	err := ErrUnderWay
	if o.watch == nil {
		err = o.opts.Go(func() { defer close(explained); o.explain(w) })
	}
	if err != nil {
		o.mu.Unlock()
		return Recording{}, err
	}
	o.watch = w
	o.mu.Unlock()
	recording := Recording{URL: o.opts.Frames.PageURL()}
	err = o.opts.Run(ctx, "beginning to record", 0, func(ctx context.Context) error { return o.begin(ctx, w) })
	if err == nil {
		ready()
		recording.Ended, err = o.wait(ctx, w, limit)
	}
	o.end(w)
	o.mu.Lock()
	o.watch = nil
	close(w.documents)
	o.mu.Unlock()
	time.AfterFunc(endTimeout, stopAsking) // a page may hang
	<-explained
	w.work.Wait()
	if err != nil {
		return Recording{}, err
	}
	for _, s := range w.steps {
		if s.Kind != "" {
			recording.Steps = append(recording.Steps, *s)
		}
	}
	recording.Full = w.isFull
	return recording, nil
}

// wait returns why the page has ended, or an error if ctx ends first.
func (o *Observer) wait(ctx context.Context, w *watch, limit time.Duration) (gone, err error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		changed := o.opts.Lifecycle.Next()
		if gone := o.opts.Lifecycle.Ended(); gone != nil {
			return gone, nil
		}
		select {
		case <-changed:
		case <-w.ended:
			return nil, nil
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// End ends the recording under way, and reports whether there is one.
func (o *Observer) End() (ends bool) {
	o.active(func(w *watch) {
		ends = true
		w.stop()
	})
	return ends
}

// Recording reports why an agent must do nothing in the page now; nil: nothing is recorded.
func (o *Observer) Recording() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.watch != nil {
		return ErrUnderWay
	}
	return nil
}

// begin observes the documents that exist, and those to come.
func (o *Observer) begin(ctx context.Context, w *watch) error {
	o.readHistory(ctx, w, "")
	for _, s := range o.opts.Frames.Sessions() {
		added, err := o.beginIn(ctx, w, s)
		var result cdppage.AddScriptToEvaluateOnNewDocumentResult
		if err == nil {
			err = added.Wait(ctx, &result)
		}
		if err != nil && s == o.opts.Session {
			return err
		}
		o.mu.Lock()
		w.scripts[s] = result.Identifier
		o.mu.Unlock()
	}
	return nil
}

// beginIn observes the documents of one process.
func (o *Observer) beginIn(ctx context.Context, w *watch, s *cdp.Session) (*cdp.Pending, error) {
	bind := runtime.AddBindingParams{Name: w.binding, ExecutionContextName: w.world}
	if _, err := s.Start(ctx, runtime.CommandAddBinding, bind); err != nil {
		return nil, err
	}
	name, _ := json.Marshal(w.binding) // a string has a JSON form
	return s.Start(ctx, cdppage.CommandAddScriptToEvaluateOnNewDocument,
		cdppage.AddScriptToEvaluateOnNewDocumentParams{
			Source:    o.opts.Library() + ";(" + frame.InDOM(observeFunction) + ")(" + string(name) + ")",
			WorldName: w.world, RunImmediately: new(true),
		})
}

// end ends what begin has begun. What the user did before it is received when it returns, unless
// the page hangs.
func (o *Observer) end(w *watch) {
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	o.mu.Lock()
	worlds, scripts := maps.Clone(w.worlds), maps.Clone(w.scripts)
	o.mu.Unlock()
	var last []*cdp.Pending
	for world := range worlds {
		off, err := world.session.Start(ctx, runtime.CommandEvaluate, runtime.EvaluateParams{
			Expression: "memory.endObserving?.()", ContextID: world.id, Silent: new(true),
		})
		if err == nil {
			last = append(last, off)
		}
	}
	for s, script := range scripts {
		_, _ = s.Start(ctx, cdppage.CommandRemoveScriptToEvaluateOnNewDocument,
			cdppage.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: script})
	}
	for _, off := range last {
		_ = off.Wait(ctx, nil)
	}
	o.opts.Frames.Flush()
	for _, s := range o.opts.Frames.Sessions() {
		_, _ = s.Start(ctx, runtime.CommandRemoveBinding, runtime.RemoveBindingParams{Name: w.binding})
	}
}

// active calls f with the recording under way, if there is one.
func (o *Observer) active(f func(w *watch)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.watch != nil {
		f(o.watch)
	}
}

// SessionAttached observes the documents of a frame that has got a process of its own.
func (o *Observer) SessionAttached(s *cdp.Session) {
	o.active(func(w *watch) { o.observe(w, s) })
}

// DocumentOpened observes a document again that a script writes: it has lost its listeners.
func (o *Observer) DocumentOpened(s *cdp.Session) {
	o.active(func(w *watch) {
		if script, ok := w.scripts[s]; ok {
			delete(w.scripts, s)
			_, _ = s.Start(w.ctx, cdppage.CommandRemoveScriptToEvaluateOnNewDocument,
				cdppage.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: script})
			o.observe(w, s)
		}
	})
}

// observe is beginIn from the event loop, which waits for nothing. mu is held.
func (o *Observer) observe(w *watch, s *cdp.Session) {
	added, err := o.beginIn(w.ctx, w, s)
	if err != nil {
		return // it has gone
	}
	o.work(w, func(ctx context.Context) {
		var result cdppage.AddScriptToEvaluateOnNewDocumentResult
		if added.Wait(ctx, &result) == nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			w.scripts[s] = result.Identifier
		}
	})
}

// work asks the browser something outside of the event loop, unless the connection has ended.
func (o *Observer) work(w *watch, ask func(context.Context)) {
	w.work.Add(1)
	err := o.opts.Go(func() {
		defer w.work.Done()
		ctx, cancel := context.WithTimeout(w.ctx, askTimeout)
		defer cancel()
		ask(ctx)
	})
	if err != nil {
		w.work.Done()
	}
}

// WorldCreated notes in which frame's document our world is.
func (o *Observer) WorldCreated(s *cdp.Session, e *runtime.EventExecutionContextCreated) {
	o.active(func(w *watch) {
		var of struct{ FrameID protocol.FrameID }
		if e.Context.Name == w.world && len(w.worlds) < maxWorlds && json.Unmarshal(e.Context.AuxData, &of) == nil {
			w.worlds[worldKey{s, e.Context.ID}] = of.FrameID
		}
	})
}

// WorldsCleared forgets the worlds of a process. The browser reports those that still exist.
func (o *Observer) WorldsCleared(s *cdp.Session) {
	o.active(func(w *watch) {
		maps.DeleteFunc(w.worlds, func(world worldKey, _ protocol.FrameID) bool { return world.session == s })
	})
}

// Reported handles a message of our script in a document.
func (o *Observer) Reported(s *cdp.Session, e *runtime.EventBindingCalled) {
	o.active(func(w *watch) {
		world := worldKey{s, e.ExecutionContextID}
		in, known := w.worlds[world]
		if e.Name != w.binding || !known || len(e.Payload) > maxMessage {
			return
		}
		var m message
		if json.Unmarshal([]byte(e.Payload), &m) != nil {
			return
		}
		f, ok := o.opts.Frames.Frame(in)
		main := in == o.opts.Frames.Main()
		if !ok || !o.opts.Frames.IsReachable(in) || main && o.opts.Shows(f.URL) != nil {
			return // the agent may not read it
		}
		var path *framePath
		if !main {
			path = o.pathOf(w, in)
		}
		if m.Do != "begin" {
			w.add(m.step(world, path))
		}
	})
}

// pathOf finds out where a frame is. mu is held.
func (o *Observer) pathOf(w *watch, id protocol.FrameID) *framePath {
	if path, known := w.frames[id]; known {
		return path
	}
	path := &framePath{}
	if len(w.frames) >= maxFrames {
		return path
	}
	w.frames[id] = path
	o.work(w, func(ctx context.Context) {
		locator, err := o.opts.Reader.FrameLocator(ctx, id)
		o.mu.Lock()
		defer o.mu.Unlock()
		path.locator, path.known = locator, err == nil
	})
	return path
}

// message is what our script reports.
type message struct {
	Do        Kind
	At        float64
	On, To    *described
	Text      string
	Long      bool
	Key       string
	Values    []string
	Files     []string
	Button    string
	Modifiers []string
	Double    bool
	Position  *frame.Point
	State     bool
}

type described struct {
	Number   int
	Role     string
	Name     string
	Password bool
	Selector string
	Located  snapshot.Location
}

func (d *described) target(path *framePath) *Target {
	if d == nil {
		return nil
	}
	return &Target{
		Identity: frame.Identity{Role: d.Role, Name: d.Name, Password: d.Password}, Selector: d.Selector,
		Locator: d.Located.Locator(), frame: path,
	}
}

func (m *message) step(in worldKey, path *framePath) *Step {
	s := &Step{
		Kind: m.Do, On: m.On.target(path), To: m.To.target(path), Text: m.Text, Long: m.Long, Key: m.Key,
		Values: m.Values, Files: m.Files, Button: m.Button, Modifiers: m.Modifiers, Double: m.Double,
		Position: m.Position, State: m.State, time: m.At,
	}
	if m.On != nil {
		s.of, s.Password = fieldKey{in, m.On.Number}, m.Do == Type && m.On.Password
	}
	return s
}

// add adds a step, or makes it one with the one before: keys into the same field are one text, the
// second click of a double-click is none of its own, and neither is the click that opens a file
// chooser. Messages of several processes come in any order.
func (w *watch) add(s *Step) {
	at := len(w.steps)
	for at > 0 && s.time > 0 && w.steps[at-1].time > s.time {
		at--
	}
	if at > 0 {
		last := w.steps[at-1]
		switch {
		case s.Kind == Upload && last.Kind == Click, last.of == s.of && s.On != nil && last.Kind == s.Kind &&
			(s.Kind == Type || s.Kind == Select):
			s.time = last.time
			w.steps[at-1] = s
			return
		case last.of == s.of && last.Kind == s.Kind && s.Kind == Click && s.Double && !last.Double:
			last.Double = true
			return
		}
	}
	w.insert(at, s)
}

// insert adds a step of its own, if there is room.
func (w *watch) insert(at int, s *Step) (added bool) {
	if w.isFull {
		return false
	}
	w.steps = slices.Insert(w.steps, at, s)
	if len(w.steps) == MaxSteps {
		w.isFull = true
		w.stop()
	}
	return true
}

// DialogOpened notes the dialog that the last step has opened.
func (o *Observer) DialogOpened(d lifecycle.Dialog) {
	o.active(func(w *watch) {
		if n := len(w.steps); n > 0 && w.steps[n-1].Opened == nil {
			w.steps[n-1].Opened = &d
		}
	})
}

// DialogClosed notes the user's answer to the dialog.
func (o *Observer) DialogClosed(d *lifecycle.Dialog, accepted bool, text string) {
	o.active(func(w *watch) {
		if d == nil {
			return
		}
		s := &Step{Kind: Dialog, State: accepted, Opened: d}
		if accepted && d.Type == "prompt" {
			s.Text = text
		}
		w.add(s)
	})
}

// Committed notes that the main frame shows another document. The browser must explain why.
func (o *Observer) Committed(address string) {
	o.active(func(w *watch) {
		s := &Step{URL: address}
		if w.pending < maxPending && w.insert(len(w.steps), s) { // in its place, until it is known what it is
			w.pending++
			w.documents <- s
		}
	})
}

// explain finds out why documents were shown, until no more come.
func (o *Observer) explain(w *watch) {
	for s := range w.documents {
		ctx, cancel := context.WithTimeout(w.ctx, askTimeout)
		kind := o.causeOf(ctx, w, s.URL)
		cancel()
		o.mu.Lock()
		w.pending--
		w.explained(s, kind)
		o.mu.Unlock()
	}
}

// explained sets what a document is, as a step, or removes it if it is none of the user's doing.
func (w *watch) explained(s *Step, kind Kind) {
	at := slices.Index(w.steps, s)
	before := &Step{Kind: Navigate} // to where the recording began
	if at > 0 {
		before = w.steps[at-1]
	}
	s.Kind = kind
	switch acted := before.Kind != Navigate && before.Kind != Arrive && before.Kind != Moved; {
	case kind == Navigate:
		return
	case acted && isAddress(s.URL):
		s.Kind = Arrive
		return
	case kind == Moved && before.Kind != Moved:
		return
	case before.Kind != Navigate: // a script leads on
		before.URL = s.URL
	}
	w.steps = slices.Delete(w.steps, at, at+1)
}

// isAddress reports whether a URL can be expected again.
func isAddress(url string) bool {
	return len(url) < 2_000 && url != "about:blank"
}

// typed are the transitions of documents that the user opens by the browser's own controls.
var typed = map[cdppage.TransitionType]bool{
	cdppage.TransitionTypeTyped: true, cdppage.TransitionTypeAddressBar: true,
	cdppage.TransitionTypeAutoBookmark: true, cdppage.TransitionTypeGenerated: true,
	cdppage.TransitionTypeKeyword: true, cdppage.TransitionTypeKeywordGenerated: true,
}

// causeOf is what has led to a document. The browser may report the document before its history has it.
func (o *Observer) causeOf(ctx context.Context, w *watch, address string) Kind {
	for {
		changed := o.opts.Lifecycle.Next()
		kind, known := o.readHistory(ctx, w, address)
		if known || ctx.Err() != nil {
			return kind
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return kind
		}
	}
}

// readHistory reads the tab's history, and what has led to a document, if the history has it already.
func (o *Observer) readHistory(ctx context.Context, w *watch, address string) (kind Kind, known bool) {
	found, err := protocol.Call(ctx, o.opts.Session, cdppage.GetNavigationHistory, protocol.Empty{})
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		return Arrive, false
	}
	next := slices.IndexFunc(found.Entries, func(e *cdppage.NavigationEntry) bool {
		return !w.entries[e.ID] && e.URL == address
	})
	current := found.CurrentIndex < int64(len(found.Entries)) && found.Entries[found.CurrentIndex].URL == address
	kind = Arrive
	switch {
	case address == "": // nothing is explained yet
		next = len(found.Entries) - 1
	case next >= 0 && typed[found.Entries[next].TransitionType]:
		kind = Navigate
	case next < 0 && current:
		kind = Moved
	}
	for _, entry := range found.Entries[:next+1] { // those after it have their own documents
		w.entries[entry.ID] = true
	}
	return kind, next >= 0 || current
}
