package page

import (
	"context"
	"time"

	"browser-coordinator/coordinator/page/frame"
)

// Frames are the page's frames, for tests of what stays in their documents.
func (p *Page) Frames() *frame.Tree { return p.frames }

// HoldEvents keeps the browser's events from being handled until release is called, as for a program that is
// stopped.
func (b *Browser) HoldEvents() (release func()) {
	b.mu.Lock()
	return b.mu.Unlock
}

// AwaitUser is what an action does before its input.
func (p *Page) AwaitUser(ctx context.Context) error { return p.awaitUser(ctx, "waiting for the user") }

// Run runs a call as the page's capabilities do.
func (p *Page) Run(ctx context.Context, operation string, limit time.Duration, do func(context.Context) error) error {
	return p.run(ctx, operation, limit, do)
}
