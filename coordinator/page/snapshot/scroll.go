package snapshot

import (
	"cmp"
	"context"
	_ "embed"
	"strconv"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"

	"browser-coordinator/coordinator/page/frame"
)

//go:embed scroll.js
var scrollScript string

// scrollIntoView shows an element.
const scrollIntoView = `function (block) { this.$scrollIntoView({ block, behavior: "instant" }); return 0 }`

const (
	// maxScroll is the default of FindOptions.Limit.
	maxScroll = 40 * time.Second
	// lookPause bounds how long a look waits for the next change.
	lookPause = 150 * time.Millisecond

	// How long a part of a list may take to show the next of its rows, by what it shows.

	// requestLimit is for a part for which a request is under way, busyLimit for one that is
	// marked as busy.
	requestLimit, busyLimit = 10 * time.Second, 8 * time.Second
	// blankLimit is for a part with nothing in it, gapLimit for one with gaps.
	blankLimit, gapLimit = 4 * time.Second, 2 * time.Second
	// endLimit is for the end of the list with the most to show, where a feed loads more, and
	// otherEndLimit for that of any other.
	endLimit, otherEndLimit = 2 * time.Second, time.Second
	// growthLimit is for one in which rows have just arrived.
	growthLimit = 400 * time.Millisecond
	// probeLimit is for the first parts of a list, which show whether its rows arrive late.
	probeLimit, probes = 300 * time.Millisecond, 2
	// secondLimit is for each part when nothing was found, secondProbe for the first ones.
	secondLimit, secondProbe = 100 * time.Millisecond, time.Second
	// maxLate bounds what a list is given because its rows have arrived late.
	maxLate = 1500 * time.Millisecond
	// futileLimit is in place of the others for what never came, maxFutile times.
	futileLimit, maxFutile = 300 * time.Millisecond, 2
)

// Scrolled is what a search has scrolled through.
type Scrolled struct {
	Steps    int
	All      bool // all lists were scrolled from end to end
	Repeated bool // and once more, with more time for rows to load
	Unloaded int  // parts that were left although they were still loading
	// List of Lists, counted from 1, is where the search has stopped: at Y of Height pixels.
	List, Lists int
	Y, Height   float64
	Took        time.Duration
	Vanished    bool    // the page no longer shows what was found
	Changes     Changes // what had changed before, as Look returns it
}

// FindScrolling is Find in a page whose lists or feeds have only a part of their content: it
// scrolls one after the other from where it is to the end, and then from the top, until
// something matches. At each part it waits until the rows there have arrived. It leaves the
// page where it stops. If nothing matches, it searches again and leaves rows more time. What
// the scrolling changes is no later Look's.
func (r *Reader) FindScrolling(ctx context.Context, opts FindOptions) (FindResult, Scrolled, error) {
	start := time.Now()
	s := search{
		reader: r, opts: opts, deadline: start.Add(cmp.Or(opts.Limit, maxScroll)), ignored: map[string]bool{},
		learned: map[place]*list{},
	}
	compares := r.hasSeen()
	if compares {
		s.Changes, _ = r.changes(ctx)
	}
	// What is not drawn loads nothing when it is scrolled.
	err := r.page.Run(ctx, "scrolling", 0, r.page.Screen.EmulateFocus)
	if err == nil {
		err = s.run(ctx)
	}
	if err == nil && s.result.Matches > 0 && s.Steps > 0 {
		err = s.show(ctx, s.in)
	}
	s.Took = time.Since(start)
	if compares {
		scrolled, _ := r.changes(ctx)
		s.Changes.add(Heard{Notices: scrolled.Notices, Missed: scrolled.Missed})
	}
	return s.result, s.Scrolled, err
}

// search is one search of FindScrolling.
type search struct {
	Scrolled
	reader   *Reader
	opts     FindOptions
	deadline time.Time
	result   FindResult
	in       *list           // where it stops
	learned  map[place]*list // from the first time, by frame and index
	ignored  map[string]bool // addresses whose responses never came
}

// place identifies a list: its frame, and its number in that document.
type place struct {
	frame protocol.FrameID
	index int
}

// list is a list that is searched.
type list struct {
	place
	repeated  bool // the second time
	secondary bool // not the one with the most to show

	position position
	parts    int           // that were looked at
	delay    time.Duration // the longest time after which rows have arrived unannounced
	futile   map[string]int
}

// run searches all lists, first of the page, then of its frames, and then once more.
func (s *search) run(ctx context.Context) error {
	for _, retry := range []bool{false, true} {
		lists, err := s.lists(ctx)
		if err != nil {
			return err
		}
		all := true
		for i, l := range lists {
			s.List, s.Lists, s.in = i+1, len(lists), l
			l.repeated, l.secondary, l.parts = retry, i > 0, 0
			limit := s.deadline
			if i < len(lists)-1 { // one without an end leaves time for the others
				limit = time.Now().Add(time.Until(s.deadline) / 2)
			}
			done, err := s.scroll(ctx, l, limit)
			if frame.Vanished(err) && l.frame != s.reader.page.Frames.Main() {
				done, err = true, nil
			}
			if err != nil || s.result.Matches > 0 {
				return err
			}
			all = all && done
		}
		if !all {
			return nil
		}
		s.Repeated, s.All = retry, true
	}
	return nil
}

// lists returns the lists of the page and of its frames.
func (s *search) lists(ctx context.Context) (lists []*list, err error) {
	for _, f := range s.reader.page.Frames.All() {
		spot, err := s.reader.scroll(ctx, f.ID, scrolling{Move: "look", Gather: true})
		if err != nil && f.ID == s.reader.page.Frames.Main() {
			return nil, err
		}
		for i := range spot.Lists {
			at := place{f.ID, i}
			if s.learned[at] == nil {
				s.learned[at] = &list{place: at, futile: map[string]int{}}
			}
			lists = append(lists, s.learned[at])
		}
	}
	return lists, nil
}

// scroll searches while it scrolls a list, and reports whether it has come to its end.
func (s *search) scroll(ctx context.Context, l *list, limit time.Time) (all bool, err error) {
	if f, ok := s.reader.page.Frames.Frame(l.frame); ok && f.Parent != "" { // what is out of sight may load nothing
		if owner, err := s.reader.page.Frames.Owner(ctx, f); err == nil {
			_ = owner.Run(ctx, scrollIntoView, "nearest", nil)
			owner.Release(ctx)
		}
	}
	began, wrapped := 0.0, false
	for move := "look"; ; s.Steps++ {
		room := l.position.Room
		if done, err := s.part(ctx, l, move, limit); err != nil || s.result.Matches > 0 || !done {
			return false, err
		}
		if move == "look" {
			began = l.position.Y
		}
		isBack := l.position.Y >= began && l.position.Room <= room
		switch {
		case wrapped && (l.position.End || isBack), !wrapped && l.position.End && began <= 0:
			return true, nil
		case l.position.End, move == "top" && l.position.Room > room: // or it has loaded more above
			move, wrapped = "top", true
		default:
			move = "on"
		}
	}
}

// part searches one part of a list: it looks again at each arrival of rows, until the part has
// settled. It returns false if time is up.
func (s *search) part(ctx context.Context, l *list, move string, limit time.Time) (bool, error) {
	start := time.Now()
	arrived, reason := start, ""
	var awaited []string
	for first := true; ; first = false {
		spot, err := s.reader.scroll(ctx, l.frame, scrolling{List: l.index, Move: move, Wait: lookPause.Milliseconds()})
		if err != nil {
			return false, err
		}
		if spot.Lists <= l.index {
			l.position = position{End: true} // the page has removed it
			return true, nil
		}
		requested := len(awaited) > 0
		awaited = s.awaited()
		if !first && reason == "" && arrived == start && (spot.Changed || len(awaited) > 0) {
			l.delay = max(l.delay, time.Since(start))
		}
		if spot.Changed || requested && len(awaited) == 0 {
			arrived = time.Now()
		}
		l.position = spot
		if first || spot.Changed {
			if s.result, err = s.reader.Find(ctx, s.opts); err != nil || s.result.Matches > 0 {
				return false, err
			}
		}
		var wait time.Duration
		wait, reason = l.patience(spot, len(awaited) > 0, !first && arrived != start)
		s.Y, s.Height = spot.Y, spot.Room
		if time.Since(arrived) >= wait {
			break
		}
		if time.Now().After(limit) {
			return false, nil
		}
		move = "stay"
	}
	l.parts++
	switch reason {
	case "request":
		for _, address := range awaited {
			s.ignored[address] = true
		}
		s.Unloaded++
	case "busy":
		s.Unloaded++
		l.futile[reason]++
	case "blank", "gap":
		l.futile[reason]++
	}
	return time.Now().Before(limit), nil
}

// patience is how long a part may take to show more rows, and for what reason.
func (l *list) patience(spot position, requested, grown bool) (wait time.Duration, reason string) {
	limits := []struct {
		reason string
		holds  bool
		wait   time.Duration
	}{
		{"request", requested, requestLimit},
		{"busy", spot.Busy, busyLimit},
		{"blank", spot.Blank == "all", blankLimit},
		{"gap", spot.Blank == "some", gapLimit},
		{"end", spot.End && !l.secondary, endLimit},
		{"end", spot.End, otherEndLimit},
		{"", grown, growthLimit},
		{"", l.parts < probes, probeLimit},
		{"", l.repeated && l.parts < probes, secondProbe},
		{"", l.repeated, secondLimit},
		{"", l.delay > 0, min(2*l.delay+lookPause, maxLate)},
	}
	for _, limit := range limits {
		if l.futile[limit.reason] >= maxFutile {
			limit.wait = min(limit.wait, futileLimit)
		}
		if limit.holds && limit.wait > wait {
			wait, reason = limit.wait, limit.reason
		}
	}
	return wait, reason
}

// awaited are the addresses of the requests whose responses the page may be about to show.
func (s *search) awaited() (addresses []string) {
	for _, url := range s.reader.page.Network.Awaited() {
		address, _, _ := strings.Cut(url, "?")
		if !s.ignored[address] {
			addresses = append(addresses, address)
		}
	}
	return addresses
}

// show scrolls to what was found, and describes it as it is then: a list may redraw a row that
// comes into sight, or load it again.
func (s *search) show(ctx context.Context, l *list) error {
	arrived := time.Now()
	for end := arrived.Add(requestLimit); time.Now().Before(end); {
		shown := s.result.ref
		if shown != 0 {
			err := s.reader.withElement(ctx, "scrolling", "e"+strconv.Itoa(shown),
				func(ctx context.Context, e *frame.Element) error {
					return e.Run(ctx, scrollIntoView, "center", nil)
				})
			if err != nil && !frame.Vanished(err) {
				return err
			}
		}
		spot, err := s.reader.scroll(ctx, l.frame, scrolling{List: l.index, Move: "stay", Wait: lookPause.Milliseconds()})
		if err != nil {
			return err
		}
		found, err := s.reader.Find(ctx, s.opts)
		if err != nil {
			return err
		}
		if s.Vanished = found.Matches == 0; !s.Vanished {
			s.result = found
		}
		if s.Vanished || found.ref != shown || spot.Changed {
			arrived = time.Now()
		}
		spot.End = false // what comes after it does not matter
		wait, _ := l.patience(spot, len(s.awaited()) > 0, false)
		if !s.Vanished && found.ref == shown && !spot.Changed && time.Since(arrived) >= wait {
			break
		}
	}
	return nil
}

// position is where a list is, in CSS pixels from its top, and what it shows there.
type position struct {
	Y, Room float64 // Room is the last position
	End     bool
	Lists   int    // how many there are
	Changed bool   // since the last look
	Busy    bool   // there is a mark of that in sight
	Blank   string // what is in sight is empty: "all", or "some" of it
}

// scrolling is the argument of scroll.js.
type scrolling struct {
	List   int    `json:"list"`
	Move   string `json:"move"` // look, on, top or stay
	Gather bool   `json:"gather"`
	Wait   int64  `json:"wait"` // milliseconds to stay
}

func (r *Reader) scroll(ctx context.Context, in protocol.FrameID, how scrolling) (spot position, err error) {
	err = r.page.Run(ctx, "scrolling", 0, func(ctx context.Context) error {
		if how.Gather {
			if err := r.page.Frames.Pierce(ctx, in); err != nil {
				return err
			}
		}
		return r.page.Frames.Run(ctx, in, scrollScript, how, &spot)
	})
	return spot, err
}
