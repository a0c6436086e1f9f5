package virtual

import (
	"slices"
	"strings"
	"sync"

	json "github.com/chromedp/cdproto/cdp/jsonv2"
)

// leases are the leases on the settings of one page, oldest first. A lease in the
// list is held or is being reset; a setting without one is free.
type leases struct {
	mu  sync.Mutex // only queues messages while it is held
	all []*lease
}

// lease is the hold on one setting. Its holders are the client that changed it
// first, and those that requested the same value since. The setting is reset in the
// page when the last holder resets it or leaves.
type lease struct {
	setting setting
	command *command // whose value is in force
	holders []*link  // none while it is being reset
	waiting []func() // commands that came meanwhile
}

// find returns the lease with that key, or nil. mu is held.
func (all *leases) find(key string) *lease {
	for _, le := range all.all {
		if le.setting.key() == key {
			return le
		}
	}
	return nil
}

// free ends a lease and runs the commands that wait for it.
func (all *leases) free(le *lease) {
	all.mu.Lock()
	all.remove(le)
	waiting := le.waiting
	le.waiting = nil
	all.mu.Unlock()
	for _, proceed := range waiting {
		proceed()
	}
}

// remove is called with mu held.
func (all *leases) remove(le *lease) {
	all.all = slices.DeleteFunc(all.all, func(other *lease) bool { return other == le })
}

// holds reports whether this session has a lease.
func (l *link) holds(key string) bool {
	at := &l.target.leases
	at.mu.Lock()
	defer at.mu.Unlock()
	le := at.find(key)
	return le != nil && slices.Contains(le.holders, l)
}

// other returns a holder of the lease that prevents this session from sharing it,
// nil if there is none.
func (le *lease) other(l *link, m *command) *link {
	for _, h := range le.holders {
		switch {
		case h == l:
		case le.setting.alone, !le.setting.shared && h.session.client != l.session.client && !alike(*le.command, *m):
			return h
		}
	}
	return nil
}

// owned is the error for a command that another session's lease prevents.
func (le *lease) owned(method string, owner, l *link) error {
	name := owner.session.client.Name
	switch {
	case owner.session.client == l.session.client:
		name = "another session of this client"
	case name == l.session.client.Name:
		name = "another client, also " + name + ","
	}
	text := method + ": " + name + " owns this setting of the page until it resets it or disconnects. Disconnect it, or do without the setting"
	if !le.setting.alone {
		text += ", or ask for the value that is in force"
	}
	return refused(text)
}

// set handles a command that changes a setting.
func (l *link) set(m *command, st setting) {
	at := &l.target.leases
	at.mu.Lock()
	le := at.find(st.key())
	if le != nil && len(le.holders) == 0 {
		le.waiting = append(le.waiting, func() { l.set(m, st) })
		at.mu.Unlock()
		return
	}
	if l.left.Load() {
		at.mu.Unlock()
		return
	}
	if le == nil {
		le = &lease{setting: st}
		at.all = append(at.all, le)
	} else if owner := le.other(l, m); owner != nil {
		at.mu.Unlock()
		if asDefault(*m) {
			l.mark(*m)
			return
		}
		l.reply(*m, nil, le.owned(m.Method, owner, l))
		return
	}
	before, held := le.command, slices.Contains(le.holders, l)
	le.command = m
	if !held {
		le.holders = append(le.holders, l)
	}
	// Under the lock, so that a reset follows the command.
	defer at.mu.Unlock()
	l.forward(*m, func(err error) {
		if !refusedByPage(err) {
			return
		}
		at.mu.Lock() // not held here: the connection's reader delivers the page's error
		defer at.mu.Unlock()
		if le.command != m || len(le.holders) == 0 {
			return // a newer command, or the reset, is under way
		}
		le.command = before
		if held {
			return
		}
		le.holders = slices.DeleteFunc(le.holders, func(h *link) bool { return h == l })
		if len(le.holders) == 0 {
			at.remove(le)
		}
	})
}

// reset handles a command that resets a setting. It ends the session's own lease,
// and reaches the page if nobody shares the lease.
func (l *link) reset(m *command, st setting) {
	at := &l.target.leases
	at.mu.Lock()
	le := at.find(st.key())
	if le != nil && len(le.holders) == 0 {
		le.waiting = append(le.waiting, func() { l.reset(m, st) })
		at.mu.Unlock()
		return
	}
	held := false
	var others []*link
	if le != nil {
		others = slices.DeleteFunc(slices.Clone(le.holders), func(h *link) bool { return h == l })
		held = len(others) < len(le.holders)
		le.holders = others
	}
	at.mu.Unlock()
	domain, name, _ := strings.Cut(m.Method, ".")
	if name == "disable" {
		l.turnOff(domain)
	}
	switch {
	case held && len(others) == 0:
		l.forward(*m, func(error) { at.free(le) })
	case len(others) > 0 && st.alone && name != "disable":
		l.reply(*m, nil, le.owned(m.Method, others[0], l))
	case len(others) > 0:
		l.mark(*m)
	case st.alone && name != "disable" && settings().resets[m.Method] != (setting{}):
		// It may be the debugger's, which owns the session.
		l.reply(*m, nil, refused(m.Method+": this client has not started that"))
	default:
		l.forward(*m, nil)
	}
}

// hold takes a lease on what a command of this session created and nobody else
// shares: a script.
func (l *link) hold(m *command, st setting) {
	at := &l.target.leases
	le := &lease{setting: st, command: m, holders: []*link{l}}
	at.mu.Lock()
	gone := l.left.Load()
	if gone {
		le.holders = nil
	}
	at.all = append(at.all, le)
	at.mu.Unlock()
	if gone {
		l.sendReset(le)
	}
}

// release ends the session's leases, newest first. It resets those that nobody else
// shares; the channels that it returns are closed when the page has responded.
func (l *link) release() (reset []<-chan struct{}) {
	l.left.Store(true)
	at := &l.target.leases
	at.mu.Lock()
	var last []*lease
	for _, le := range slices.Backward(at.all) {
		if i := slices.Index(le.holders, l); i >= 0 {
			if le.holders = slices.Delete(le.holders, i, i+1); len(le.holders) == 0 {
				last = append(last, le)
			}
		}
	}
	at.mu.Unlock()
	for _, le := range last {
		reset = append(reset, l.sendReset(le))
	}
	return reset
}

func (l *link) sendReset(le *lease) <-chan struct{} {
	answered := make(chan struct{})
	l.conn.start(le.setting.reset, le.setting.params(), func(json.Value, error) {
		defer close(answered)
		l.target.leases.free(le)
	})
	return answered
}
