package virtual

import (
	"slices"
	"strings"

	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// A page has one session for all clients. One client at a time may change what the page
// is like; it owns the page until it has reset its changes or leaves. Some settings
// change nothing for others, and any client may change them (settings.txt).

// change is what a session has set in a page. The page's list has it until the page
// has answered its reset.
type change struct {
	link    *link
	setting setting
	owns    bool     // no other client may change the page meanwhile
	command *command // the latest for this setting
	ending  bool     // that is the reset
}

// ownChange returns the session's change of a setting, or nil. mu is held.
func (l *link) ownChange(st setting) *change {
	return l.target.find(st, func(c *change) bool { return c.link == l })
}

// otherChange returns another session's change of the setting, or nil. mu is held.
func (l *link) otherChange(st setting) *change {
	return l.target.find(st, func(c *change) bool { return c.link != l })
}

func (t *target) find(st setting, matches func(*change) bool) *change {
	for _, c := range t.changes {
		if c.setting.key() == st.key() && matches(c) {
			return c
		}
	}
	return nil
}

// conflict returns the change that excludes this one, or nil: one of another client, or
// one whose reset could still reach the page after this command. mu is held.
func (l *link) conflict(st setting) *change {
	for _, c := range l.target.changes {
		same := c.setting.key() == st.key()
		switch {
		case c.link != l && same && c.ending:
			return c
		case c.link.session.client != l.session.client && !st.shared && (c.owns || same):
			return c
		}
	}
	return nil
}

// await repeats a command when a change has left the page's list. mu is held.
func (t *target) await(command func()) { t.waiting = append(t.waiting, command) }

// remove removes a change from the page's list, and repeats the commands that wait. mu
// is held.
func (t *target) remove(c *change) {
	t.changes = slices.DeleteFunc(t.changes, func(other *change) bool { return other == c })
	waiting := t.waiting
	t.waiting = nil
	for _, command := range waiting {
		command()
	}
}

// ownedBy is the error for a command that another client's change excludes.
func (l *link) ownedBy(method string, owner *link) error {
	name := owner.session.client.downstream.Name()
	switch {
	case owner.session.client == l.session.client:
		name = "another session of this client"
	case name == l.session.client.downstream.Name():
		name = "another client, also " + name + ","
	}
	return refused(method + ": " + name + " has changed settings of this page, and one client at a time may do " +
		"that. Disconnect it, or do without this setting")
}

// set handles a command that changes a setting. mu is held.
func (l *link) set(m *command, st setting) {
	if l.ended {
		return
	}
	if c := l.conflict(st); c != nil {
		switch {
		case c.ending:
			l.target.await(func() { l.set(m, st) })
		case asDefault(*m):
			l.respondInOrder(*m)
		default:
			l.reply(*m, nil, l.ownedBy(m.Method, c.link))
		}
		return
	}
	c := l.ownChange(st)
	first := c == nil
	if first {
		c = &change{link: l, setting: st}
		l.target.changes = append(l.target.changes, c)
	}
	c.command, c.ending = m, false
	c.owns = c.owns || !st.shared && !asDefault(*m)
	l.forward(*m, func(err error) {
		if first && refusedByPage(err) && c.command == m {
			l.target.remove(c)
		}
	})
}

// reset handles a command that resets a setting. It reaches the page unless another
// session has the setting too. mu is held.
func (l *link) reset(m *command, st setting) {
	if l.ended {
		return
	}
	own, other := l.ownChange(st), l.otherChange(st)
	if other != nil && other.ending {
		l.target.await(func() { l.reset(m, st) })
		return
	}
	domain, name, _ := strings.Cut(m.Method, ".")
	if name == "disable" {
		l.turnOff(domain)
	}
	switch {
	case own != nil && other != nil && !st.result:
		l.target.remove(own)
		l.respondInOrder(*m)
	case own != nil:
		own.command, own.ending = m, true
		l.forward(*m, func(error) {
			if own.command == m { // otherwise it was set again
				l.target.remove(own)
			}
		})
	case st.result && other != nil:
		l.reply(*m, nil, l.ownedBy(m.Method, other.link))
	case st.result && settings().resets[m.Method] != (setting{}):
		// It may be the debugger's, which owns the session.
		l.reply(*m, nil, refused(m.Method+": this client has not started that"))
	case other != nil:
		l.respondInOrder(*m)
	default:
		l.forward(*m, nil)
	}
}

// undo resets what a session has set in its page, newest first, unless another session
// has it too. mu is held.
func (l *link) undo() {
	for _, c := range slices.Backward(slices.Clone(l.target.changes)) {
		switch {
		case c.link != l || c.ending:
		case l.otherChange(c.setting) != nil:
			l.target.remove(c)
		default:
			c.ending = true
			l.pending++
			l.conn.start(c.setting.reset, c.setting.params(), func(jsonv2.Value, error) {
				l.target.remove(c)
				l.resetDone()
			})
		}
	}
}
