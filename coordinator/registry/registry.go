package registry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"browser-coordinator/internal/notify"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Options of a registry.
type Options struct {
	// Client is the name of this program in windows. Required.
	Client vscodeipc.Peer
	// Sweep deletes dead sockets at the start; programs that run for long should set it.
	Sweep bool
	// Limit is the least strict mode in which this program uses a window, whatever its user has
	// chosen; empty: there is none.
	Limit policy.Mode
	// Logger: nil discards.
	Logger *slog.Logger
}

// Registry knows the open windows. Its methods may be called from any goroutine.
type Registry struct {
	options Options
	log     *slog.Logger
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // every goroutine of the registry
	// closing ends when Close begins: the last notifications are then sent.
	closing   context.Context
	close     context.CancelFunc
	reporting sync.WaitGroup // the goroutines that notify the windows

	mu      sync.Mutex // guards the fields that follow, and those of entry
	entries map[vscodeipc.Address]*entry
	changed notify.Broadcast // of entries
	sources map[string]*Source
}

// Open starts the search for windows, and does not wait for any. Close ends it; only the
// values of ctx are used.
func Open(ctx context.Context, o Options) *Registry {
	r := &Registry{
		options: o, log: o.Logger,
		entries: map[vscodeipc.Address]*entry{}, sources: map[string]*Source{},
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.closing, r.close = context.WithCancel(r.ctx)
	r.running.Add(1)
	go r.watchDirs(vscodeipc.WatchDirs(r.log))
	if o.Sweep {
		r.running.Add(1)
		go r.sweep()
	}
	return r
}

// flushTimeout bounds the last notifications of the windows: a program that ends waits for
// them.
const flushTimeout = time.Second

// Close sends the windows what they were not notified of yet. Then it ends every
// connection and waits for the registry's goroutines.
func (r *Registry) Close() error {
	timer := time.AfterFunc(flushTimeout, r.cancel)
	defer timer.Stop()
	r.mu.Lock()
	r.close() // from now on there is no new source
	r.mu.Unlock()
	r.reporting.Wait()
	r.cancel()
	r.running.Wait()
	return nil
}

// Changed returns a channel that is closed at the next change of any window.
func (r *Registry) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed.Next()
}

// List returns the open windows. It searches for new ones, redials those that could not
// be reached, and waits for them, up to 2 s.
func (r *Registry) List(ctx context.Context) (Listing, error) {
	for _, d := range r.scan() {
		wait, cancel := context.WithDeadline(ctx, d.deadline)
		select {
		case <-d.done:
		case <-wait.Done():
		}
		cancel()
		r.note(d.entry)
		r.noteSilence(d.entry)
	}
	if err := ctx.Err(); err != nil {
		return Listing{}, err
	}
	return r.listing(), nil
}

// noteSilence records that the first attempt to reach a window takes longer than List waits:
// it would count as none.
func (r *Registry) noteSilence(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[e.address] == e && e.window == nil && e.reason == "" && time.Since(e.lostTime) >= firstTimeout {
		r.set(e, nil, silent)
	}
}

// Resolve searches for windows and selects one (adr/0006). The candidates are all windows,
// with the reason why each was or was not selected.
func (r *Registry) Resolve(ctx context.Context, want Want) (Window, []Candidate, error) {
	listing, err := r.List(ctx)
	if err != nil {
		return Window{}, nil, err
	}
	return choose(listing.Windows, listing.Unreachable, want)
}

// Selected is Resolve without a search, for callers that wait for Changed: what they do
// then must not be a change.
func (r *Registry) Selected(want Want) (Window, []Candidate, error) {
	listing := r.listing()
	return choose(listing.Windows, listing.Unreachable, want)
}

func (r *Registry) listing() Listing {
	r.mu.Lock()
	defer r.mu.Unlock()
	var l Listing
	for _, e := range r.entries {
		if e.window != nil {
			l.Windows = append(l.Windows, *e.window)
		} else if e.reason != "" {
			l.Unreachable = append(l.Unreachable, e.unreachable())
		}
	}
	l.sort()
	return l
}

// watchDirs scans whenever a socket is added or removed.
func (r *Registry) watchDirs(dirs *vscodeipc.DirWatcher) {
	defer r.running.Done()
	defer dirs.Close()
	r.scan()
	for {
		select {
		case <-dirs.Changes():
			r.scan()
		case <-r.ctx.Done():
			return
		}
	}
}

// How long List waits for an address after it is dialed: for a new one, and for one that
// could not be reached before. The latter may be a window by now, which responds within
// milliseconds; a call must not wait each time for a window that hangs.
const (
	firstTimeout = 2 * time.Second
	againTimeout = 250 * time.Millisecond
)

// dialed is an entry that is being dialed.
type dialed struct {
	entry    *entry
	done     <-chan struct{}
	deadline time.Time // the end of List's wait
}

// scan follows the new addresses, and redials at once those that could not be reached:
// another window may have the name now. It returns both. An entry whose window has closed
// ends by itself, with its connection.
func (r *Registry) scan() (all []dialed) {
	addresses, err := vscodeipc.List()
	if err != nil {
		r.log.Warn("some directories of sockets could not be read", "error", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return nil
	}
	for _, a := range addresses {
		e := r.entries[a]
		if e == nil {
			e = &entry{address: a, watcher: vscodeipc.Watch(a, r.dial()), lostTime: time.Now()}
			r.entries[a] = e
			r.running.Add(1)
			go r.follow(e)
		}
		if e.window != nil {
			continue
		}
		ended, start := e.watcher.Retry()
		wait := firstTimeout
		if e.reason != "" {
			wait = againTimeout
		}
		all = append(all, dialed{e, ended, start.Add(wait)})
	}
	return all
}

// sweep deletes the sockets of windows that ended without deleting theirs.
func (r *Registry) sweep() {
	defer r.running.Done()
	verdicts, err := vscodeipc.Probe(r.ctx, vscodeipc.ProbeOptions{Dial: r.dial()})
	if err != nil && r.ctx.Err() == nil {
		r.log.Warn("dead sockets could not all be deleted", "error", err)
	}
	for _, v := range verdicts {
		if v.Deleted {
			r.log.Info("deleted a dead window's socket", "address", v.Address)
		}
	}
}

func (r *Registry) dial() vscodeipc.DialOptions {
	return vscodeipc.DialOptions{Client: r.options.Client, Logger: r.log}
}

// notify is called after every change of entries. r.mu is held.
func (r *Registry) notify() {
	for _, s := range r.sources {
		s.update(r.entries)
	}
	r.changed.Notify()
}
