package page

import (
	"strconv"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
)

// refTable knows in which frame a ref is; Page.mu guards it. The elements
// themselves are known to the snapshot script in that frame's document. Numbers
// rise for as long as the page is attached, so a ref of an older document can
// never mean an element of a newer one.
type refTable struct {
	last    int
	entries map[int]refEntry
}

type refEntry struct {
	frame protocol.FrameID
	label string // for messages, for example: button "Save"
	stale bool   // its document has gone; kept for the label
}

// maxStale bounds how many refs of gone documents keep their labels.
const maxStale = 5000

func newRefTable() refTable { return refTable{entries: map[int]refEntry{}} }

// dropFrame marks the refs of a frame whose document has gone.
func (t *refTable) dropFrame(id protocol.FrameID) {
	stale := 0
	for n, e := range t.entries {
		if e.frame == id {
			e.stale = true
			t.entries[n] = e
		}
		if e.stale {
			stale++
		}
	}
	if stale > maxStale {
		for n, e := range t.entries {
			if e.stale {
				delete(t.entries, n)
			}
		}
	}
}

// parseRef reads "e12", also in the forms that agents copy: "[ref=e12]",
// "ref=e12" and "f1e12" with a frame in front.
func parseRef(s string) (int, bool) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	s = strings.TrimPrefix(s, "ref=")
	if rest, ok := strings.CutPrefix(s, "f"); ok {
		if i := strings.IndexByte(rest, 'e'); i > 0 && digits(rest[:i]) {
			s = rest[i:]
		}
	}
	rest, ok := strings.CutPrefix(s, "e")
	if !ok || !digits(rest) {
		return 0, false
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil
}

func digits(s string) bool {
	if s == "" {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
