package page

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"
)

// Indexes number tabs in the order in which they were first seen. A tab keeps its index as long as the
// Indexes exist, also in another connection, and no other tab gets it, whichever browser it is in: an index
// never names another tab than it did. The zero value is ready for use.
type Indexes struct {
	mu   sync.Mutex // guards the fields that follow
	next int
	of   map[target.ID]int
}

// index is the index of a tab.
func (x *Indexes) index(id target.ID) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	index, known := x.of[id]
	if !known {
		if x.of == nil {
			x.of = map[target.ID]int{}
		}
		index = x.next
		x.of[id] = index
		x.next++
	}
	return index
}

// after is higher than each index so far.
func (x *Indexes) after() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.next
}

// forget forgets a tab that has closed. Its index stays unused.
func (x *Indexes) forget(id target.ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.of, id)
}

// targets are the open pages of a browser.
type targets struct {
	indexes *Indexes

	mu     sync.Mutex // guards the fields that follow
	pages  map[target.ID]openPage
	closed []openPage // the last that have closed, see openedSince
	links  []link     // that were followed, and whose page has not opened yet
}

// maxClosed bounds how many closed pages are remembered.
const maxClosed = 20

type openPage struct {
	info   *target.Info
	opener target.ID // empty: the browser does not report that a page has opened it
	index  int
}

// link is one that a page opens in another tab, as for a click with Ctrl. Chromium reports the
// opener of each window, also with noopener, but none of such a tab: its URL has to be the link's.
type link struct {
	page    target.ID
	url     string
	expires time.Time // a tab that opens later is not the link's
}

// isPage excludes targets that are not a tab of the user: browser_ui popups have a
// type of their own, prerendered pages a subtype, DevTools a scheme.
func isPage(t *target.Info) bool {
	return t.Type == "page" && t.Subtype == "" && !strings.HasPrefix(t.URL, "devtools://") && !isPreview(t)
}

func (p openPage) public() Info {
	t := p.info
	return Info{ID: string(t.TargetID), Title: t.Title, URL: t.URL, OpenerID: string(p.opener), Index: p.index}
}

func (t *targets) created(info *target.Info) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.know(info)
	p.opener = cmp.Or(p.opener, t.followed(info.URL))
	t.pages[info.TargetID] = p
}

// follows notes that a page opens a link in another tab. Other clients open blank tabs, too.
func (t *targets) follows(page target.ID, url string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.links = slices.DeleteFunc(t.links, func(l link) bool { return now.After(l.expires) })
	if url != "about:blank" {
		t.links = append(t.links, link{page, url, now.Add(respondTimeout)})
	}
}

// followed returns the page that has opened a link in a tab that is new; empty: none. mu is held.
func (t *targets) followed(url string) target.ID {
	i := slices.IndexFunc(t.links, func(l link) bool { return l.url == url && time.Now().Before(l.expires) })
	if i < 0 {
		return ""
	}
	opener := t.links[i].page
	t.links = slices.Delete(t.links, i, i+1)
	return opener
}

// know numbers a page; mu is held.
func (t *targets) know(info *target.Info) openPage {
	p, known := t.pages[info.TargetID]
	if !known {
		if t.pages == nil {
			t.pages = map[target.ID]openPage{}
		}
		p = openPage{info, info.OpenerID, t.indexes.index(info.TargetID)}
		t.pages[info.TargetID] = p
	}
	return p
}

// list is what is known of pages, by index.
func (t *targets) list(infos []*target.Info) []Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	var pages []Info
	for _, info := range infos {
		pages = append(pages, t.current(info))
	}
	slices.SortFunc(pages, byIndex)
	return pages
}

// one is what is known of a page.
func (t *targets) one(info *target.Info) Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current(info)
}

// current is what is known of a page with what the browser reports of it now. mu is held.
func (t *targets) current(info *target.Info) Info {
	p := t.know(info)
	p.info = info
	return p.public()
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
	first = before.info.URL == ""
	before.info = info
	t.pages[info.TargetID] = before
	return first
}

func (t *targets) destroyed(id target.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, known := t.pages[id]
	if !known {
		return
	}
	delete(t.pages, id)
	t.indexes.forget(id)
	t.closed = append(t.closed, p)
	t.closed = t.closed[max(0, len(t.closed)-maxClosed):]
}

// opener is the page that opened a page; empty: none.
func (t *targets) opener(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.pages[target.ID(id)].opener)
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

// openedSince lists the pages from an index on that a page has opened, and those of them that have closed
// again. A page whose opener is not known is none of them: it may be the user's.
func (t *targets) openedSince(first int, opener string) Tabs {
	t.mu.Lock()
	defer t.mu.Unlock()
	choose := func(pages iter.Seq[openPage]) (infos []Info) {
		for p := range pages {
			if p.index >= first && p.opener == target.ID(opener) {
				infos = append(infos, p.public())
			}
		}
		slices.SortFunc(infos, byIndex)
		return infos
	}
	return Tabs{choose(maps.Values(t.pages)), choose(slices.Values(t.closed))}
}
