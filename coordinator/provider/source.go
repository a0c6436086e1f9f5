package provider

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/backoff"
)

// source opens the browsers of a provider, one at a time. It implements launch.Source.
type source struct {
	name    string // of the provider, for people
	open    func(context.Context) (*connection, error)
	release func() error // ends what open has made besides the connection

	current *connection // nil: none
	reached bool        // it has had a browser
	waiting atomic.Pointer[string]
}

// returnTimeout bounds the wait for a provider that has had a browser before.
const returnTimeout = 20 * time.Second

// Open implements launch.Source. A provider that has given a browser before is tried again
// for a while, since it may be back soon. Another one fails at once: its address may be
// wrong.
func (s *source) Open(ctx context.Context) (launch.Browser, error) {
	if s.current != nil { // it has ended
		s.current.close()
		s.current = nil
	}
	defer s.waiting.Store(nil)
	start := time.Now()
	pause := backoff.Backoff{First: 250 * time.Millisecond, Max: 5 * time.Second, Jitter: 0.2}
	for {
		c, err := s.open(ctx)
		if err == nil {
			s.current, s.reached = c, true
			return c, nil
		}
		final := errors.As(err, new(*RefusedError)) || errors.As(err, new(*unexpected))
		if !s.reached || final || time.Since(start) > returnTimeout {
			return nil, err
		}
		s.waiting.Store(new("waiting for " + s.name + " to come back"))
		if !pause.Sleep(ctx) {
			return nil, err
		}
	}
}

// Kind implements launch.Source.
func (s *source) Kind() launch.Kind { return launch.Provided }

// Provider implements launch.Source.
func (s *source) Provider() string { return s.name }

// Waiting implements launch.Source.
func (s *source) Waiting() string {
	if text := s.waiting.Load(); text != nil {
		return *text
	}
	return ""
}

// End implements launch.Source.
func (s *source) End() error {
	if s.current != nil {
		s.current.close()
		s.current = nil
	}
	return s.release()
}
