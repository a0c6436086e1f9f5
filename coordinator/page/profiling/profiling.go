// Package profiling records the browser's work for a page: traces, CPU profiles,
// the coverage of scripts and style sheets, and snapshots of the JavaScript heap.
package profiling

import (
	"context"
	"errors"
	"sync"
	"time"

	"browser-coordinator/coordinator/cdp"
)

// Page is the part of a page that this package needs.
type Page interface {
	ID() string
	Session() *cdp.Session
	// Closed reports whether the page, and its recordings with it, have gone.
	Closed() bool
	// Documents counts the documents that the main frame has shown.
	Documents() int
	// EmulateFocus makes the browser draw a background page too.
	EmulateFocus(ctx context.Context) error
	// CallFunction calls a function in the isolated world of the main document, with one
	// argument, and decodes the JSON text that it returns.
	CallFunction(ctx context.Context, function string, argument, result any) error
	// ResourceContent reads the page's content of a resource.
	ResourceContent(ctx context.Context, url string) ([]byte, error)
	// Run runs an operation on the page and explains its error; limit 0: that of any call.
	Run(ctx context.Context, doing string, limit time.Duration, do func(context.Context) error) error
}

// recordTimeout bounds the transfer of a trace, a profile or a heap, which may take long
// for a large page.
const recordTimeout = 2 * time.Minute

// ErrNotRecording reports that there is no recording to stop.
var ErrNotRecording = errors.New("nothing of that kind is being recorded: start it first, and stop it before its page closes")

// ErrRecording reports that a recording of that kind is running already.
var ErrRecording = errors.New("one is being recorded already: stop it first")

// Recordings are the recordings of one connection, at most one of each kind. The zero
// value is ready for use.
type Recordings struct {
	mu             sync.Mutex // guards the fields that follow
	trace, profile Page
	coverage       *coverage
}

// Profiler starts recordings of one page.
type Profiler struct {
	recordings *Recordings
	page       Page
}

// Of returns the profiler of a page; r stops its recordings.
func (r *Recordings) Of(page Page) *Profiler { return &Profiler{r, page} }

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
	found := *field
	*field = none
	if found == none {
		return none, ErrNotRecording
	}
	return found, nil
}
