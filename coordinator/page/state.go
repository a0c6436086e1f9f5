package page

import (
	"context"
	"sync"
	"time"

	"browser-coordinator/internal/notify"
)

// state is what a page's events report of its main frame. Waiters wait for its changes.
type state struct {
	mu       sync.Mutex       // guards the fields that follow; taken after Browser.mu
	changed  notify.Broadcast // of any state
	loaded   bool             // the main document's load event has fired
	parsed   bool             // its DOMContentLoaded has
	pending  string           // URL of a navigation of the main frame under way
	left     time.Time        // when pending began
	commits  int              // documents that the main frame has shown
	moves    int              // URL changes within a document
	windows  int              // windows that the page requested
	download string           // URL of the last download
	outside  string           // last address that the document asked to open in another program
	outsides int              // counts these
	dialog   *Dialog
	lost     bool  // the renderer has gone without a replacement
	ended    error // ErrCrashed until revived, or ErrPageClosed
}

// wake makes all waiters check the state again.
func (s *state) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Notify()
}

// next returns the channel that the next change closes.
func (s *state) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed.Next()
}

// await waits until the condition is true. It calls the condition with mu held.
func (s *state) await(ctx context.Context, condition func() bool) error {
	for {
		s.mu.Lock()
		met, changed := condition(), s.changed.Next()
		s.mu.Unlock()
		if met {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// awaitFor is await with a time limit; a condition that is not met in time is no error.
func (s *state) awaitFor(ctx context.Context, limit time.Duration, condition func() bool) error {
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errLimit)
	defer cancel()
	if err := s.await(bounded, condition); err != errLimit {
		return err
	}
	return nil
}

// committed notes that the main frame shows another document; mu is held. A document from
// the history is restored: it does not load again.
func (s *state) committed(restored bool) {
	s.pending, s.loaded, s.parsed, s.outside = "", restored, restored, ""
	s.commits++
	s.lost = false
	if s.ended == ErrCrashed {
		s.ended = nil
	}
}

// leaveFor notes that the page is navigating to another document; mu is held.
func (s *state) leaveFor(url string) {
	if s.pending == "" {
		s.left = time.Now()
	}
	s.pending = url
}

// isLeaving reports whether the page is navigating to another document.
func (s *state) isLeaving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending != ""
}

// isBlocked reports whether something other than a script keeps the page from responding.
func (s *state) isBlocked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialog != nil || s.pending != ""
}

// openDialog returns the open dialog; nil: none.
func (s *state) openDialog() *Dialog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialog
}

// documents counts the documents that the main frame has shown.
func (s *state) documents() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commits
}

// whyEnded returns why the page has ended; nil: it has not.
func (s *state) whyEnded() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}
