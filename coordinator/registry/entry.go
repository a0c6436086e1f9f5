package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"browser-coordinator/internal/usersocket"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// entry is the state of one address.
type entry struct {
	address  vscodeipc.Address
	watcher  *vscodeipc.Watcher
	window   *Window   // nil: no connection
	reason   string    // why there is no connection; empty: unknown yet
	lostTime time.Time // of the state without a connection
	// presented is the virtual browser over the window's pages, if it needs one.
	presented *presented
}

// follow keeps an entry up to date until its window is gone.
func (r *Registry) follow(e *entry) {
	defer r.running.Done()
	defer e.watcher.Close()
	for {
		changed, open := r.note(e)
		if !open {
			return
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			r.mu.Lock()
			r.forget(e)
			r.mu.Unlock()
			return
		}
	}
}

// note stores the watcher's snapshot. It returns whether the window may be open, and a
// channel that is closed at the watcher's next change.
func (r *Registry) note(e *entry) (changed <-chan struct{}, open bool) {
	for {
		now, changed := e.watcher.Snapshot()
		closed := now.Err != nil && !exists(e.address, now.Err)
		r.prepare(e, now.State)
		r.mu.Lock()
		select {
		case <-changed: // another call of note may have stored a later one
			r.mu.Unlock()
			continue
		default:
		}
		open = r.store(e, now, closed)
		r.mu.Unlock()
		return changed, open
	}
}

// store stores a snapshot, and returns whether the window may be open. r.mu is held.
func (r *Registry) store(e *entry, now vscodeipc.Snapshot, closed bool) (open bool) {
	switch {
	case r.entries[e.address] != e:
		return false
	case now.Connected:
		window := &Window{Address: e.address, Hello: now.Hello}
		mode := policy.Mode(window.State.Access.Mode).Within(r.options.Limit)
		window.State.Access.Mode = vscodeipc.AccessMode(mode)
		r.set(e, window, "")
	case closed:
		r.forget(e)
	case now.Err != nil:
		r.set(e, nil, reasonOf(now.Err))
	}
	return !closed // the first attempt may be under way
}

// silent is the reason of a window that does not answer. Listing adds for how long.
const silent = "silent"

func reasonOf(err error) string {
	if errors.Is(err, vscodeipc.ErrSilent) {
		return silent
	}
	return err.Error()
}

// unreachable describes an entry without a connection. r.mu is held.
func (e *entry) unreachable() Unreachable {
	if e.reason != silent {
		return Unreachable{Address: e.address, Reason: e.reason}
	}
	quiet := max(time.Since(e.lostTime).Round(time.Second), time.Second)
	return Unreachable{e.address, fmt.Sprintf("a window is there, but it has not answered for %v: its program is "+
		"stopped or busy", quiet), quiet}
}

// set stores what is known of an entry, and notifies of a difference. An attempt that
// finds what was known must not: List redials, so a caller that lists at each change
// would go on for ever. r.mu is held.
func (r *Registry) set(e *entry, window *Window, reason string) {
	if reason == e.reason && window.equal(e.window) {
		return
	}
	if e.window != nil && window == nil {
		e.lostTime = time.Now()
	}
	e.window, e.reason = window, reason
	r.present(e)
	r.notify()
}

// exists reports whether an address that gave err may still have a window.
func exists(a vscodeipc.Address, err error) bool {
	if errors.Is(err, fs.ErrNotExist) || usersocket.IsDead(err) {
		return false
	}
	addresses, _ := vscodeipc.List()
	return slices.Contains(addresses, a)
}

// forget removes an entry. r.mu is held.
func (r *Registry) forget(e *entry) {
	if r.entries[e.address] != e {
		return
	}
	delete(r.entries, e.address)
	r.set(e, nil, "")
}
