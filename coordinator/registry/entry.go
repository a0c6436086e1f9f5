package registry

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"browser-coordinator/vscodeipc"
)

// entry is the state of one address.
type entry struct {
	watcher *vscodeipc.Watcher
	window  *Window // nil: no connection
	reason  string  // why there is no connection; empty: unknown yet
	// presented is the virtual browser over the window's pages, if it needs one.
	presented *presented
}

// follow keeps an entry up to date until its window is gone.
func (r *Registry) follow(a vscodeipc.Address, e *entry) {
	defer r.running.Done()
	defer e.watcher.Close()
	for {
		changed, there := r.note(a, e)
		if !there {
			return
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			r.forget(a, e)
			return
		}
	}
}

// note stores the watcher's snapshot. It returns whether a window may be there, and a
// channel that is closed at the watcher's next change.
func (r *Registry) note(a vscodeipc.Address, e *entry) (changed <-chan struct{}, there bool) {
	for {
		now, changed := e.watcher.Snapshot()
		lost := !now.Connected && now.Err != nil
		if lost && !present(a, now.Err) {
			r.forget(a, e)
			return nil, false
		}
		if there, latest := r.set(a, e, now, changed); latest {
			return changed, there
		}
	}
}

// present reports whether an address that gave err may still have a window.
func present(a vscodeipc.Address, err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return false
	}
	addresses, _ := vscodeipc.List()
	return slices.Contains(addresses, a)
}

// set stores a watcher's snapshot, unless it has changed meanwhile.
func (r *Registry) set(a vscodeipc.Address, e *entry, known vscodeipc.Snapshot, changed <-chan struct{}) (there, latest bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[a] != e {
		return false, true
	}
	if _, now := e.watcher.Snapshot(); now != changed {
		return true, false
	}
	var w *Window
	switch {
	case known.Connected:
		e.reason = ""
		found := windowOf(a, known.Hello, known.State)
		w = &found
	case known.Err != nil:
		e.reason = known.Err.Error()
	default:
		return true, true // the first attempt is under way
	}
	r.present(e, w)
	e.window = w
	r.notify()
	return true, true
}

func (r *Registry) forget(a vscodeipc.Address, e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[a] != e {
		return
	}
	r.present(e, nil)
	delete(r.entries, a)
	r.notify()
}
