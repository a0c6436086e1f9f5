package page

import (
	"strconv"
	"strings"

	protocol "github.com/chromedp/cdproto/cdp"
)

// refTable gives elements their refs; Page.mu guards it. Numbers rise for as
// long as the page is attached, so a ref of an older document can never mean an
// element of a newer one.
type refTable struct {
	last   int
	byRef  map[int]refEntry
	byNode map[nodeKey]int
}

// nodeKey names an element: backend node ids are unique within a process, and
// so within a frame's document.
type nodeKey struct {
	frame protocol.FrameID
	node  protocol.BackendNodeID
}

type refEntry struct {
	nodeKey
	label string // for messages, for example: button "Save"
}

func newRefTable() refTable {
	return refTable{byRef: map[int]refEntry{}, byNode: map[nodeKey]int{}}
}

// ref returns the element's ref, a new one when it has none.
func (t *refTable) ref(key nodeKey, label string) string {
	n, known := t.byNode[key]
	if !known {
		t.last++
		n = t.last
		t.byNode[key] = n
	}
	t.byRef[n] = refEntry{key, label}
	return "e" + strconv.Itoa(n)
}

// dropFrame forgets the elements of a frame whose document has gone.
func (t *refTable) dropFrame(id protocol.FrameID) {
	for n, e := range t.byRef {
		if e.frame == id {
			delete(t.byRef, n)
			delete(t.byNode, e.nodeKey)
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
