package pagebrowser

import (
	"slices"
	"strings"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// In a page's session there is each thing once, for all clients. What one has set
// up lasts as long as any of them holds it, and the newest word of those who hold
// it counts, as if each had a session of its own.

// hold is something that clients have set up in a page's session.
type hold struct {
	target *target
	key    string
}

// holding is one session's part in it.
type holding struct {
	key     string
	undo    undo
	command command // that set it up
	sure    bool    // the page has answered it
	// word is another session's holding, whose command is said instead of the undo.
	word *holding
}

// hold remembers what a command sets up. The function that it returns takes the
// page's answer: if the command has failed it brings back what was held before.
func (l *link) hold(key string, u undo, m command) (answered func(error)) {
	h := &holding{key: key, undo: u, command: m}
	b := l.session.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left {
		l.conn.start(u.method, u.params, nil)
		return func(error) {}
	}
	before, _, _ := l.drop(key)
	l.add(h)
	return func(err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if !slices.Contains(l.held, h) {
			return // it has left, or said more meanwhile
		}
		if h.sure = err == nil; h.sure {
			return
		}
		l.drop(key)
		if before != nil {
			l.add(before)
		}
	}
}

// add holds, as the newest. Browser.mu and mu are held.
func (l *link) add(h *holding) {
	holders := l.session.client.browser.holders
	at := hold{l.target, h.key}
	holders[at] = append(holders[at], h)
	l.held = append(l.held, h)
}

// holds reports whether this session holds something of that kind. mu is held.
func (l *link) holds(key string) bool { return l.find(key) >= 0 }

func (l *link) find(key string) int {
	return slices.IndexFunc(l.held, func(h *holding) bool { return h.key == key })
}

// forget lets go of what this session holds, nil if that is nothing. newest tells
// that it was the word that counted, other is the one that counts among those who
// hold on.
func (l *link) forget(key string) (h *holding, newest bool, other *holding) {
	b := l.session.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.drop(key)
}

// drop is forget with Browser.mu and mu held.
func (l *link) drop(key string) (h *holding, newest bool, other *holding) {
	i := l.find(key)
	if i >= 0 {
		h = l.held[i]
		l.held = slices.Delete(l.held, i, i+1)
	}
	newest, other = l.release(hold{l.target, key}, h)
	return h, newest, other
}

// release takes a holding, if there is one, out of the page's. Browser.mu is held.
func (l *link) release(at hold, h *holding) (newest bool, other *holding) {
	holders := l.session.client.browser.holders
	all := holders[at]
	if i := slices.Index(all, h); i >= 0 {
		newest = i == len(all)-1
		all = slices.Delete(all, i, i+1)
	}
	if len(all) == 0 {
		delete(holders, at)
		return newest, nil
	}
	holders[at] = all
	return newest, all[len(all)-1]
}

// newest is the word that counts now among those who hold something, nil if nobody
// does.
func (l *link) newest(key string) *holding {
	b := l.session.client.browser
	b.mu.Lock()
	defer b.mu.Unlock()
	if all := b.holders[hold{l.target, key}]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// again says what another session's word is, after this one's has changed it.
func (l *link) again(other *holding) {
	l.conn.start(other.command.Method, other.command.Params, nil)
}

// end answers a client's word that something of its own is over. The page hears of
// it when nobody else holds the same.
func (l *link) end(m command, u undo) {
	h, newest, other := l.forget(u.key())
	domain, name, _ := strings.Cut(m.Method, ".")
	over := func() {}
	if name == "enable" || name == "disable" {
		over = l.off(domain)
	}
	collects := collecting[m.Method]
	switch {
	case other != nil && !collects:
		if newest && !alike(h.command, other.command) {
			l.again(other)
		}
		l.mark(m, over)
	case other != nil && h == nil && enders[m.Method]:
		l.reply(m.ID, nil, refused(m.Method+": another client of this page has begun that, and will end it"))
	case h == nil && collects && enders[m.Method]:
		// It may be the debugger's, whose session it is.
		l.reply(m.ID, nil, refused(m.Method+": this client has not begun that"))
	default:
		l.conn.start(m.Method, m.Params, func(result json.Value, err error) {
			over()
			other := other
			if other == nil {
				other = l.newest(u.key()) // who has begun meanwhile, by a connection of its own
			}
			if other == nil {
				l.reply(m.ID, result, err)
				return
			}
			// The others have a connection each: whoever hears that this is over may
			// end what has not begun anew.
			l.conn.start(other.command.Method, other.command.Params, func(json.Value, error) { l.reply(m.ID, result, err) })
		})
	}
}
