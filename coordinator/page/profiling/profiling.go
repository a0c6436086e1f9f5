// Package profiling records the browser's work for a page: traces, CPU profiles,
// the coverage of scripts and style sheets, and snapshots of the JavaScript heap.
package profiling

import (
	"errors"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page/capture"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/lifecycle"
)

// Options of a Profiler. All but Owner are required.
type Options struct {
	Run       lifecycle.Run
	Lifecycle *lifecycle.Lifecycle
	ID        target.ID    // of the page
	Browser   string       // its id
	Session   *cdp.Session // of the page itself
	Frames    *frame.Tree
	Screen    *capture.Screen
	Network   *history.Network
	Owner     *claim.Owner // nil: there are no other agents
}

// recordTimeout bounds the transfer of a trace, a profile or a heap, which may take long
// for a large page.
const recordTimeout = 2 * time.Minute

// ErrNotRecording reports that there is no recording to stop.
var ErrNotRecording = errors.New("nothing of that kind is being recorded: start it first, and stop it before its " +
	"page closes")

// ErrRecording reports that a recording of that kind is running already.
var ErrRecording = errors.New("a recording of this kind is running already: stop it first")

// Recordings are the recordings of one connection, at most one of each kind. The zero
// value is ready for use.
type Recordings struct {
	mu       sync.Mutex // guards the fields that follow
	trace    *trace
	profile  *Profiler
	coverage *coverage
}

// Ended ends the recordings of a page, which has closed.
func (r *Recordings) Ended(page target.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trace != nil && r.trace.page.ID == page {
		r.trace.release()
		r.trace = nil
	}
	if r.profile != nil && r.profile.page.ID == page {
		r.profile = nil
	}
	if r.coverage != nil && r.coverage.page.ID == page {
		r.coverage.close()
		r.coverage = nil
	}
}

// Profiler starts recordings of one page.
type Profiler struct {
	recordings *Recordings
	page       Options
}

// New returns the profiler of a page, whose recordings these stop.
func New(recordings *Recordings, opts Options) *Profiler { return &Profiler{recordings, opts} }

// profilerUnused reports whether no recording needs the browser's profiler.
func (r *Recordings) profilerUnused() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.coverage == nil && r.profile == nil
}

// take removes a recording, so that it is stopped only once.
func take[T comparable](r *Recordings, field *T) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var none T
	recording := *field
	*field = none
	if recording == none {
		return none, ErrNotRecording
	}
	return recording, nil
}
