// Package profiling records what the browser does for a page: traces, CPU profiles,
// the coverage of scripts and style sheets, and snapshots of the JavaScript heap.
package profiling

import (
	"context"
	"errors"
	"sync"
	"time"

	"browser-coordinator/coordinator/cdp"
)

// Page is what this package needs of a page.
type Page interface {
	ID() string
	Session() *cdp.Session
	// Closed reports whether the page is gone, and what it recorded with it.
	Closed() bool
	// Documents counts the documents that the main frame has shown.
	Documents() int
	// EmulateFocus makes the browser draw a page in the background too.
	EmulateFocus(ctx context.Context) error
	// ResourceContent reads what the page has of a resource.
	ResourceContent(ctx context.Context, url string) ([]byte, error)
	// Run runs an operation on the page and explains its error; limit 0: that of any call.
	Run(ctx context.Context, doing string, limit time.Duration, do func(context.Context) error) error
}

// recordTimeout bounds what may take long with a large page: handing over a
// trace, a profile or a heap.
const recordTimeout = 2 * time.Minute

// ErrNotRecording reports that nothing was started that could be stopped.
var ErrNotRecording = errors.New("nothing of that kind is being recorded: start it first, and stop it before its page closes")

// ErrRecording reports that what was to be started is being recorded already.
var ErrRecording = errors.New("one is being recorded already: stop it first")

// Recordings are what one connection records, at most one of each kind. The zero
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

// Of returns the profiler of a page, whose recordings these methods stop.
func (r *Recordings) Of(page Page) *Profiler { return &Profiler{r, page} }

// profilerUnused reports whether no recording needs the browser's profiler.
func (r *Recordings) profilerUnused() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.coverage == nil && r.profile == nil
}

// take takes a recording out, so that it is stopped only once.
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
