package userchrome

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"browser-coordinator/coordinator/launch"
)

// Source opens one of the user's browsers. It implements launch.Source.
type Source struct {
	browser Browser
	log     *slog.Logger
	attempt *attempt // under way, also after the caller of Open has given up; nil: none
	current *joined  // nil: none
	refused error    // nil: the user has not refused
	asking  atomic.Bool
}

// attempt is one connection that is being opened.
type attempt struct {
	cancel  context.CancelFunc
	done    chan struct{} // closed with the fields that follow
	session *joined
	err     error
}

// New is the source of a browser.
func New(b Browser, log *slog.Logger) *Source { return &Source{browser: b, log: log} }

// Open implements launch.Source. Where ctx ends while the browser asks its user, the question
// stays, and the next Open waits for the same one. After a refusal the user is not asked again.
func (s *Source) Open(ctx context.Context) (launch.Browser, error) {
	if s.refused != nil {
		return nil, s.refused
	}
	if s.current != nil { // it has ended
		s.current.close()
		s.current = nil
	}
	if s.attempt == nil {
		opening, cancel := context.WithCancel(context.Background())
		s.attempt = &attempt{cancel: cancel, done: make(chan struct{})}
		go s.connect(opening, s.attempt)
	}
	a := s.attempt
	select {
	case <-a.done:
	case <-ctx.Done():
		if s.asking.Load() {
			return nil, fmt.Errorf("%s, then try again", askingText(s.browser.Name()))
		}
		return nil, context.Cause(ctx)
	}
	s.attempt = nil
	a.cancel()
	if errors.Is(a.err, ErrRefused) {
		s.refused = a.err
	}
	if a.err != nil {
		return nil, a.err
	}
	s.current = a.session
	return a.session, nil
}

// connect is owned by End, which waits for it.
func (s *Source) connect(ctx context.Context, a *attempt) {
	defer close(a.done)
	defer s.asking.Store(false)
	a.session, a.err = s.browser.open(ctx, func() {
		if !s.asking.Swap(true) {
			s.log.Warn(askingText(s.browser.Name()))
		}
	})
}

// Provider implements launch.Source.
func (s *Source) Provider() string { return s.browser.Name() }

// Waiting implements launch.Source.
func (s *Source) Waiting() string {
	if s.asking.Load() {
		return "waiting for you: " + askingText(s.browser.Name())
	}
	return ""
}

// Kind implements launch.Source.
func (s *Source) Kind() launch.Kind { return launch.Personal }

// End implements launch.Source: it leaves the browser, which lives on.
func (s *Source) End() error {
	if a := s.attempt; a != nil {
		a.cancel()
		<-a.done
		s.attempt = nil
		if a.session != nil {
			a.session.close()
		}
	}
	if s.current != nil {
		s.current.close()
		s.current = nil
	}
	return nil
}
