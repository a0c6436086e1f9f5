package page

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/target"
)

// targets are the open pages of a browser, in the order in which this connection saw them
// open. The zero value is ready for use.
type targets struct {
	mu    sync.Mutex // guards the fields that follow
	seq   int        // counts opened pages
	pages map[target.ID]openPage
}

type openPage struct {
	info *target.Info
	seq  int
}

// isPage excludes targets that are not a tab of the user: browser_ui popups have a
// type of their own, prerendered pages a subtype, DevTools a scheme.
func isPage(t *target.Info) bool {
	return t.Type == "page" && t.Subtype == "" && !strings.HasPrefix(t.URL, "devtools://")
}

func pageInfo(t *target.Info) Info {
	return Info{ID: string(t.TargetID), Title: t.Title, URL: t.URL, OpenerID: string(t.OpenerID)}
}

func (t *targets) created(info *target.Info) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pages == nil {
		t.pages = map[target.ID]openPage{}
	}
	t.seq++
	t.pages[info.TargetID] = openPage{info, t.seq}
}

// changed reports whether the page has got its first URL.
func (t *targets) changed(info *target.Info) (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.pages[info.TargetID]
	if !known {
		return false
	}
	t.pages[info.TargetID] = openPage{info, before.seq}
	return before.info.URL == ""
}

func (t *targets) destroyed(id target.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pages, id)
}

// last is the number of the page that opened last.
func (t *targets) last() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seq
}

// opener is the page that opened a page; empty: none.
func (t *targets) opener(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p, known := t.pages[target.ID(id)]; known {
		return string(p.info.OpenerID)
	}
	return ""
}

// openedSince lists the pages that a page has opened. A link with rel=noopener
// sets no opener, so a page without an opener counts too.
func (t *targets) openedSince(seq int, opener string) []Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	var infos []Info
	for _, p := range t.pages {
		if info := pageInfo(p.info); p.seq > seq && (info.OpenerID == opener || info.OpenerID == "") {
			infos = append(infos, info)
		}
	}
	t.sort(infos)
	return infos
}

// sort orders pages; those that are not known come last. mu is held.
func (t *targets) sort(infos []Info) {
	order := func(i Info) int {
		if p, known := t.pages[target.ID(i.ID)]; known {
			return p.seq
		}
		return math.MaxInt
	}
	slices.SortStableFunc(infos, func(a, b Info) int { return order(a) - order(b) })
}
