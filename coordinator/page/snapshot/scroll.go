package snapshot

import (
	"context"
	_ "embed"
	"time"
)

//go:embed scroll.js
var scrollScript string

const (
	// maxScroll bounds the time in which a search scrolls.
	maxScroll = 25 * time.Second
	// scrollTimeout is how long a feed may take to load more at its end.
	scrollTimeout = 2 * time.Second
)

// Scrolled is what a search has scrolled through.
type Scrolled struct {
	Steps int
	All   bool // there is no more
}

// FindScrolling is Find in a document whose list or feed has only a part of its content:
// it scrolls from where the page is to the end, and then from the top, until something
// matches. It leaves the page where it stops.
func (r *Reader) FindScrolling(ctx context.Context, opts FindOptions) (found Found, s Scrolled, err error) {
	until := time.Now().Add(maxScroll)
	var at position
	began, wrapped := 0.0, false
	for {
		found, err = r.Find(ctx, opts)
		if err != nil || found.Matches > 0 || time.Now().After(until) {
			return found, s, err
		}
		if s.All = at.End && (wrapped || began == 0) || wrapped && at.Y >= began; s.All {
			return found, s, nil
		}
		wrapped = wrapped || at.End
		if at, err = r.scroll(ctx, at.End); err != nil {
			return found, s, err
		}
		if s.Steps++; s.Steps == 1 {
			began = at.From
		}
	}
}

// position is where a step of scrolling began and ended, in CSS pixels from the top.
type position struct {
	From, Y float64
	End     bool
}

func (r *Reader) scroll(ctx context.Context, top bool) (at position, err error) {
	err = r.page.Run(ctx, "scrolling", 0, func(ctx context.Context) error {
		return r.frames.Run(ctx, r.frames.Main(), scrollScript, map[string]any{"top": top, "budget": scrollTimeout.Milliseconds()}, &at)
	})
	return at, err
}
