package lifecycle

import (
	"context"
	"time"
)

// call is something under way that an event cancels when it makes waiting pointless.
type call struct {
	cancel   context.CancelCauseFunc
	survives survival
}

// survival is what a call goes on through.
type survival int

const (
	nothing     survival = iota // not even a navigation
	navigations                 // no dialog
	dialogs                     // and navigations
)

// Begin rejects a call that cannot succeed now. Until the caller calls end, a dialog, a pause of the
// debugger, a crash or the end of the page cancels its context.
func (l *Lifecycle) Begin(ctx context.Context) (opened context.Context, end func(), err error) {
	return l.begin(ctx, navigations)
}

// BeginOverDialog is Begin for a call that goes on while a dialog is open.
func (l *Lifecycle) BeginOverDialog(ctx context.Context) (opened context.Context, end func(), err error) {
	return l.begin(ctx, dialogs)
}

func (l *Lifecycle) begin(ctx context.Context, survives survival) (context.Context, func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case survives == nothing && l.isLeaving():
		return nil, nil, ErrLeaving
	case survives != nothing && l.ended != nil:
		return nil, nil, l.ended
	case survives == navigations && l.dialog != nil:
		return nil, nil, &DialogError{*l.dialog}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &call{cancel, survives}
	l.calls[c] = struct{}{}
	return ctx, func() {
		l.mu.Lock()
		delete(l.calls, c)
		l.mu.Unlock()
		cancel(nil)
	}, nil
}

// Interrupt ends the calls under way with an error.
func (l *Lifecycle) Interrupt(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.interrupt(err)
}

// interrupt is Interrupt; mu is held.
func (l *Lifecycle) interrupt(err error) { l.cancel(func(*call) bool { return true }, err) }

// cancel ends some of the calls under way; mu is held.
func (l *Lifecycle) cancel(some func(*call) bool, err error) {
	for c := range l.calls {
		if some(c) {
			c.cancel(err)
		}
	}
}

// UnlessLeaving sends a request to the page. It cancels the request with ErrLeaving when the page
// starts to navigate to another document: the browser holds back commands until the
// server of that document has responded.
func (l *Lifecycle) UnlessLeaving(ctx context.Context, request func(context.Context) error) error {
	ctx, end, err := l.begin(ctx, nothing)
	if err != nil {
		return err
	}
	defer end()
	if err = request(ctx); err != nil && context.Cause(ctx) == ErrLeaving {
		return ErrLeaving
	}
	return err
}

// Await waits until the condition is true. Whatever changes its result must be logged here, or be
// followed by Wake.
func (l *Lifecycle) Await(ctx context.Context, condition func() bool) error {
	for {
		changed := l.Next()
		if condition() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// AwaitFor is Await with a time limit; a condition that is not met in time is no error.
func (l *Lifecycle) AwaitFor(ctx context.Context, limit time.Duration, condition func() bool) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := l.Await(bounded, condition)
	if err == context.DeadlineExceeded && ctx.Err() == nil {
		return nil
	}
	return err
}
