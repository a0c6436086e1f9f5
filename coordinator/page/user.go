package page

import (
	"context"
	"time"
)

// awaitUser waits while the user types, clicks or moves the mouse in the page, for longestUse at
// most: input of both at once would get mixed.
func (p *Page) awaitUser(ctx context.Context, operation string) error {
	for end := time.Now().Add(longestUse); p.browser.hasUser(ctx, p); {
		var wait time.Duration
		_ = p.run(ctx, operation, respondTimeout, func(ctx context.Context) error {
			return p.life.UnlessLeaving(ctx, func(ctx context.Context) error {
				wait = p.input.UserRest(ctx)
				return nil
			})
		})
		wait = min(wait, time.Until(end))
		if wait <= 0 {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-p.browser.done:
			return nil // the action reports it
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// userKnown reports whether a user is known to work in the pages, which the first action finds out.
func (b *Browser) userKnown() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.user == UserPresent
}

// hasUser reports whether a user may work in the pages.
func (b *Browser) hasUser(ctx context.Context, p *Page) bool {
	b.mu.Lock()
	user := b.user
	b.mu.Unlock()
	if user != UserIfVisible {
		return user == UserPresent
	}
	headless, err := p.Headless(ctx)
	if err != nil {
		return false
	}
	if user = UserPresent; headless {
		user = NoUser
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.user = user
	return user == UserPresent
}
