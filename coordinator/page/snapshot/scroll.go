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
	// otherTimeout is the same for other lists than the one with the most to show.
	otherTimeout = 500 * time.Millisecond
)

// Scrolled is what a search has scrolled through.
type Scrolled struct {
	Steps   int
	All     bool    // there is no more
	Changes Changes // what had changed before, as Look returns it
}

// FindScrolling is Find in a document whose lists or feed have only a part of their content:
// it scrolls one after the other from where it is to the end, and then from the top, until
// something matches. It leaves the page where it stops. If nothing matches, it searches again
// and leaves rows the time to load. What the scrolling changes is no later Look's.
func (r *Reader) FindScrolling(ctx context.Context, opts FindOptions) (found Found, s Scrolled, err error) {
	until := time.Now().Add(maxScroll)
	if r.seen() {
		s.Changes, _ = r.changes(ctx)
		defer func() {
			scrolled, _ := r.changes(ctx)
			s.Changes.Notices = append(s.Changes.Notices, scrolled.Notices...)
		}()
	}
search:
	for list, lists := 0, 1; list < lists; list++ {
		for _, thorough := range []bool{false, true} {
			found, lists, err = r.findInList(ctx, opts, scrolling{List: list, Thorough: thorough}, until, &s)
			if err != nil || found.Matches > 0 || !s.All {
				break search
			}
		}
	}
	if found.ref == 0 || s.Steps == 0 {
		return found, s, err
	}
	// A list may draw a row that is not in sight, and draw it anew when an action scrolls to it.
	if _, err := r.scroll(ctx, scrolling{To: found.ref}); err != nil {
		return found, s, err
	}
	if again, err := r.Find(ctx, opts); err == nil && again.Matches > 0 {
		found = again
	}
	return found, s, nil
}

// findInList searches while it scrolls one list, and returns how many lists there are.
func (r *Reader) findInList(ctx context.Context, opts FindOptions, how scrolling, until time.Time, s *Scrolled) (found Found, lists int, err error) {
	var at position
	s.All = false
	began, wrapped := 0.0, false
	for first := true; ; first = false {
		found, err = r.Find(ctx, opts)
		if err != nil || found.Matches > 0 || time.Now().After(until) {
			return found, at.Lists, err
		}
		if s.All = at.End && (wrapped || began == 0) || wrapped && at.Y >= began; s.All {
			return found, at.Lists, nil
		}
		wrapped = wrapped || at.End
		how.Top = at.End
		if at, err = r.scroll(ctx, how); err != nil {
			return found, at.Lists, err
		}
		if s.Steps++; first {
			began = at.From
		}
	}
}

// position is where a step of scrolling began and ended, in CSS pixels from the top.
type position struct {
	From, Y float64
	End     bool
	Lists   int // how many there are
}

// scrolling is the argument of scroll.js.
type scrolling struct {
	List     int   `json:"list"`
	Top      bool  `json:"top"`
	To       int   `json:"to"` // the number of a ref; 0: none
	Thorough bool  `json:"thorough"`
	Budget   int64 `json:"budget"` // milliseconds
}

func (r *Reader) scroll(ctx context.Context, how scrolling) (at position, err error) {
	how.Budget = scrollTimeout.Milliseconds()
	if how.List > 0 {
		how.Budget = otherTimeout.Milliseconds()
	}
	err = r.page.Run(ctx, "scrolling", 0, func(ctx context.Context) error {
		return r.frames.Run(ctx, r.frames.Main(), scrollScript, how, &at)
	})
	return at, err
}
