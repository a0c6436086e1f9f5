package page

import (
	"errors"
	"time"

	"browser-coordinator/coordinator/cdp"
)

// recordTimeout bounds what may take long with a large page: handing over a
// trace, a profile or a heap.
const recordTimeout = 2 * time.Minute

// ErrNotRecording reports that nothing was started that could be stopped.
var ErrNotRecording = errors.New("nothing of that kind is being recorded: start it first, and stop it before its page closes")

// ErrRecording reports that what was to be started is being recorded already.
var ErrRecording = errors.New("one is being recorded already: stop it first")

// closed says whether a page is there no more, and what it recorded with it.
func (p *Page) closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended != nil
}

// recordings are what a connection records, at most one of each kind;
// Browser.mu guards them.
type recordings struct {
	trace, profile *Page
	coverage       *coverage
}

// coverage is a recording of what is used of scripts and styles.
type coverage struct {
	page    *Page
	sheets  *cdp.Subscription // the style sheets that there are
	old     map[string]bool   // scripts that were there at the start
	commits int               // documents that the page had shown then
}

// began notes a recording.
func (b *Browser) began(note func(*recordings)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	note(&b.recordings)
}

// taken takes a recording out, so that it is stopped once.
func taken[T any](b *Browser, of func(*recordings) **T) (*T, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	place := of(&b.recordings)
	found := *place
	*place = nil
	if found == nil {
		return nil, ErrNotRecording
	}
	return found, nil
}
