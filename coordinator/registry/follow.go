package registry

import (
	"errors"
	"io/fs"
	"slices"
	"sync"
	"syscall"

	"browser-coordinator/vscodeipc"
)

// entry is one address that is there.
type entry struct {
	settled chan struct{} // closed when the first dial has ended
	window  *Window       // nil while there is no connection
	watcher *vscodeipc.Watcher
	reason  string // why there is none; empty while it is not known
	// presented is the browser that stands for the window's pages, if it has a
	// need of one.
	presented *presented
}

// follow keeps what is known of one address until no window is there any more.
func (r *Registry) follow(a vscodeipc.Address, e *entry) {
	defer r.running.Done()
	settle := sync.OnceFunc(func() { close(e.settled) })
	defer settle()
	watcher := vscodeipc.Watch(a, &vscodeipc.WatchOptions{Dial: r.dial()})
	defer watcher.Close()
	r.mu.Lock()
	e.watcher = watcher
	r.mu.Unlock()
	for {
		now, changed := watcher.Snapshot()
		switch {
		case now.Connected:
			w := windowOf(a, now.Hello, now.State)
			r.set(e, &w, "")
			settle()
		case now.Err != nil && !present(a, now.Err):
			r.forget(a)
			return
		case now.Err != nil:
			r.set(e, nil, now.Err.Error())
			settle()
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			r.forget(a)
			return
		}
	}
}

// present says whether an address that gave err may still have a window.
func present(a vscodeipc.Address, err error) bool {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return false
	}
	addresses, _ := vscodeipc.List()
	return slices.Contains(addresses, a)
}

func (r *Registry) set(e *entry, w *Window, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.present(e, w)
	e.window, e.reason = w, reason
	r.notify()
}

func (r *Registry) forget(a vscodeipc.Address) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[a]; e != nil {
		r.present(e, nil)
	}
	delete(r.entries, a)
	r.notify()
}
