package page

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/target"
)

// targets are the open pages of a browser, in the order in which this connection saw them
// open. The zero value is ready for use.
type targets struct {
	mu     sync.Mutex // guards the fields that follow
	seq    int        // counts opened pages
	pages  map[target.ID]openPage
	closed []openPage // the last that have closed, see openedSince
}

// maxClosed bounds how many closed pages are remembered.
const maxClosed = 20

type openPage struct {
	info *target.Info
	seq  int
}

// isPage excludes targets that are not a tab of the user: browser_ui popups have a
// type of their own, prerendered pages a subtype, DevTools a scheme.
func isPage(t *target.Info) bool {
	return t.Type == "page" && t.Subtype == "" && !strings.HasPrefix(t.URL, "devtools://")
}

func (p openPage) public() Info {
	t := p.info
	return Info{ID: string(t.TargetID), Title: t.Title, URL: t.URL, OpenerID: string(t.OpenerID), Index: p.seq - 1}
}

func (t *targets) created(info *target.Info) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.know(info)
}

// know numbers a page; mu is held.
func (t *targets) know(info *target.Info) openPage {
	p, known := t.pages[info.TargetID]
	if !known {
		if t.pages == nil {
			t.pages = map[target.ID]openPage{}
		}
		t.seq++
		p = openPage{info, t.seq}
		t.pages[info.TargetID] = p
	}
	return p
}

// list is what is known of pages, in the order in which this connection saw them open.
func (t *targets) list(infos []*target.Info) []Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	var pages []Info
	for _, info := range infos {
		pages = append(pages, openPage{info, t.know(info).seq}.public())
	}
	slices.SortFunc(pages, byIndex)
	return pages
}

// one is what is known of a page.
func (t *targets) one(info *target.Info) Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	return openPage{info, t.pages[info.TargetID].seq}.public()
}

func byIndex(a, b Info) int { return a.Index - b.Index }

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
	p, known := t.pages[id]
	if !known {
		return
	}
	delete(t.pages, id)
	t.closed = append(t.closed, p)
	t.closed = t.closed[max(0, len(t.closed)-maxClosed):]
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

// url is a page's URL as the browser reported it; empty: none.
func (t *targets) url(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p, known := t.pages[target.ID(id)]; known {
		return p.info.URL
	}
	return ""
}

// openedSince lists the pages that a page has opened, and those of them that have closed again. A
// link with rel=noopener sets no opener, so a page without an opener counts too.
func (t *targets) openedSince(seq int, opener string) Tabs {
	t.mu.Lock()
	defer t.mu.Unlock()
	choose := func(pages iter.Seq[openPage]) (infos []Info) {
		for p := range pages {
			if info := p.public(); p.seq > seq && (info.OpenerID == opener || info.OpenerID == "") {
				infos = append(infos, info)
			}
		}
		slices.SortFunc(infos, byIndex)
		return infos
	}
	return Tabs{choose(maps.Values(t.pages)), choose(slices.Values(t.closed))}
}
