package registry

import (
	"context"
	"time"
)

// Watch calls show with the windows now, at each change of a window, and after each
// interval; 0: there is none. It returns nil when ctx ends, else the error of show.
func (r *Registry) Watch(ctx context.Context, interval time.Duration, show func(Listing) error) error {
	var tick <-chan time.Time
	if interval > 0 {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		tick = ticker.C
	}
	changed := r.Changed()
	listing, err := r.List(ctx)
	for err == nil {
		if err = show(listing); err != nil {
			break
		}
		select {
		case <-changed:
		case <-tick:
		case <-ctx.Done():
			return nil
		}
		// Not List, which dials windows that could not be reached: that is a change.
		changed = r.Changed()
		listing = r.listing()
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}
