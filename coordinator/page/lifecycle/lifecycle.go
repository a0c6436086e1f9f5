// Package lifecycle follows one page: what its events report, what calls wait for, and what
// interrupts them.
//
// A wait reads the log from a position on, as in the example.
package lifecycle

import (
	"context"
	"slices"
	"sync"
	"time"

	"browser-coordinator/internal/notify"
)

// Run runs an operation on the page, with a timeout (0: that of any call), and explains its error.
type Run func(ctx context.Context, operation string, limit time.Duration, do func(context.Context) error) error

// Kind is what an event reports of the main frame.
type Kind int

const (
	Committed     Kind = iota // it shows another document
	Moved                     // its URL has changed within the document
	Leaving                   // it is navigating to another document
	Stayed                    // that navigation has ended without a document
	Parsed                    // the document is parsed
	Loaded                    // its load event has fired
	WindowOpened              // it has requested a window
	Download                  // it has started a download
	OpenedOutside             // it has asked to open an address in another program
	ChooserOpened             // it has opened a file chooser
	PickerRefused             // it has asked for a file by showOpenFilePicker or its kin, which the browser refuses
	Refused                   // the guard has refused a navigation
	Crashed                   // the renderer has gone
	Revived                   // another one has replaced it
	kindCount
)

// Event is an entry of the log.
type Event struct {
	Seq   int64     // its number among the events of the page; 0: none was logged
	Count int       // its number among the events of its kind
	Time  time.Time // of [Leaving]: when the navigation began
	URL   string    // of a navigation, a download or another program
	Err   error     // why a navigation was refused
}

// Lifecycle is the log of one page and the calls that are under way. The log keeps the last
// event of each kind: that is all that a wait asks for. Its methods may be called from
// any goroutine.
type Lifecycle struct {
	// mu guards the fields that follow. Only contexts are cancelled while it is held.
	mu      sync.Mutex
	changed notify.Broadcast // of these fields, or of what else a condition reads
	seq     int64            // of the last event
	last    [kindCount]Event
	dialog  *Dialog
	ended   error // ErrCrashed until revived, ErrPageClosed or ErrBrowserGone
	calls   map[*call]struct{}
}

// New returns the lifecycle of a page that nothing is known of.
func New() *Lifecycle { return &Lifecycle{calls: map[*call]struct{}{}} }

// Log adds an event of each of these kinds.
func (l *Lifecycle) Log(e Event, kinds ...Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log(e, kinds...)
}

// log is Log; mu is held.
func (l *Lifecycle) log(e Event, kinds ...Kind) {
	e.Time = time.Now()
	for _, kind := range kinds {
		l.seq++
		before := l.last[kind]
		if kind == Leaving {
			if l.isLeaving() { // for another URL
				e.Time = before.Time
			}
			l.cancel(func(c *call) bool { return c.survives == nothing }, ErrLeaving)
		}
		e.Seq, e.Count = l.seq, before.Count+1
		l.last[kind] = e
	}
	l.changed.Notify()
}

// Commit logs that the main frame shows another document. One from the history is restored: it
// does not load again.
func (l *Lifecycle) Commit(restored bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revive()
	l.log(Event{}, Committed)
	if restored {
		l.log(Event{}, Parsed, Loaded)
	}
}

// Attach logs how far the document of a page had come before its first event.
func (l *Lifecycle) Attach(parsed, loaded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last[Committed].Count > 0 {
		return // an event is newer
	}
	if parsed {
		l.log(Event{}, Parsed)
	}
	if loaded {
		l.log(Event{}, Loaded)
	}
}

// Wake makes all waiters check their conditions again.
func (l *Lifecycle) Wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed.Notify()
}

// Next returns the channel that the next change closes.
func (l *Lifecycle) Next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed.Next()
}

// Seq is the number of the last event: a position in the log.
func (l *Lifecycle) Seq() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq
}

// Last returns the last event of a kind.
func (l *Lifecycle) Last(kind Kind) Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[kind]
}

// After reports whether the log has an event of one of these kinds after a position.
func (l *Lifecycle) After(seq int64, kinds ...Kind) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(kinds, func(kind Kind) bool { return l.last[kind].Seq > seq })
}

// Documents counts the documents that the main frame has shown.
func (l *Lifecycle) Documents() int { return l.Last(Committed).Count }

// Reached reports whether the present document is [Parsed] or [Loaded].
func (l *Lifecycle) Reached(kind Kind) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[kind].Seq > l.last[Committed].Seq
}

// OfDocument returns the last event of a kind if it is one of the present document.
func (l *Lifecycle) OfDocument(kind Kind) Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.last[kind]; e.Seq > l.last[Committed].Seq {
		return e
	}
	return Event{}
}

// Departure is the navigation to another document that is under way; false: none is.
func (l *Lifecycle) Departure() (Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isLeaving() {
		return Event{}, false
	}
	return l.last[Leaving], true
}

// IsLeaving reports whether the page is navigating to another document.
func (l *Lifecycle) IsLeaving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isLeaving()
}

// isLeaving is IsLeaving; mu is held.
func (l *Lifecycle) isLeaving() bool {
	return l.last[Leaving].Seq > max(l.last[Committed].Seq, l.last[Stayed].Seq)
}

// IsBlocked reports whether something other than a script keeps the page from responding.
func (l *Lifecycle) IsBlocked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialog != nil || l.isLeaving()
}

// IsLost reports whether the page has no renderer.
func (l *Lifecycle) IsLost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last[Crashed].Seq > max(l.last[Committed].Seq, l.last[Revived].Seq)
}

// Ended returns why the page has ended; nil: it has not.
func (l *Lifecycle) Ended() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// End ends the page, and the calls under way.
func (l *Lifecycle) End(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.dialog = reason, nil
	l.interrupt(reason)
	l.changed.Notify()
}

// Revive allows calls on a page that has crashed.
func (l *Lifecycle) Revive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revive()
}

// revive is Revive; mu is held.
func (l *Lifecycle) revive() {
	if l.ended == ErrCrashed {
		l.ended = nil
	}
}

// Dialog returns the open dialog; nil: none.
func (l *Lifecycle) Dialog() *Dialog {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialog
}

// OpenDialog notes that a dialog blocks the page. It ends the calls under way.
func (l *Lifecycle) OpenDialog(d Dialog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dialog = &d
	l.cancel(func(c *call) bool { return c.survives != dialogs }, &DialogError{d})
	l.changed.Notify()
}

// CloseDialog notes that the dialog was answered.
func (l *Lifecycle) CloseDialog(accepted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dialog != nil && l.dialog.Type == "beforeunload" && !accepted {
		l.log(Event{}, Stayed)
	}
	l.dialog = nil
	l.changed.Notify()
}
