package page

import (
	"context"

	"browser-coordinator/coordinator/page/frame"
)

// Frames are the page's frames, for tests of what stays in their documents.
func (p *Page) Frames() *frame.Tree { return p.frames }

// AwaitUser is what an action does before its input.
func (p *Page) AwaitUser(ctx context.Context) error { return p.awaitUser(ctx, "waiting for the user") }
