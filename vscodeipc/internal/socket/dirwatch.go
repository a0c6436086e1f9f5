package socket

import (
	"context"
	"log/slog"
	"slices"
	"time"
)

// DirWatcher reports when a window's address appears or disappears, in any of the
// directories of searchDirs, including those that do not exist yet.
type DirWatcher struct {
	changes chan struct{} // holds one token when there was a change
	log     *slog.Logger
	ctx     context.Context
	cancel  context.CancelFunc
	ended   chan struct{}
}

// WatchDirs begins to watch, and returns at once: setting up a watch takes milliseconds
// in a large directory. The first token reports that the watch is set up. If the system
// has no watch left, the directories are polled once a second. The logger may be nil.
func WatchDirs(log *slog.Logger) *DirWatcher {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	w := &DirWatcher{changes: make(chan struct{}, 1), log: log, ended: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	go w.run(dataDirs())
	return w
}

// run is owned by the watcher and ends with its context.
func (w *DirWatcher) run(dirs []string) {
	defer close(w.ended)
	if err := w.watch(dirs); err != nil {
		w.log.Warn("the directories of window sockets are polled once a second, since the system cannot watch them",
			"error", err)
		w.poll()
	}
}

// pollEvery is how often the addresses are listed if the system cannot watch.
const pollEvery = time.Second

// poll reports changes until the watcher ends.
func (w *DirWatcher) poll() {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	former, _ := List() // the first tick reports an error
	slices.Sort(former)
	w.notify()
	for {
		select {
		case <-ticker.C:
		case <-w.ctx.Done():
			return
		}
		now, err := List()
		if err != nil {
			w.log.Warn("the windows' addresses cannot be listed", "error", err)
			continue
		}
		slices.Sort(now)
		if !slices.Equal(former, now) {
			w.notify()
		}
		former = now
	}
}

// Changes has one token for all changes since the last read, and a first one for the
// addresses from before. Read it, then call List or Find.
func (w *DirWatcher) Changes() <-chan struct{} { return w.changes }

// Close ends the watcher and waits for its goroutine.
func (w *DirWatcher) Close() error {
	w.cancel()
	<-w.ended
	return nil
}

func (w *DirWatcher) notify() {
	select {
	case w.changes <- struct{}{}:
	default: // one token covers all changes
	}
}
