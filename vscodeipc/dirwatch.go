package vscodeipc

import (
	"context"
	"log/slog"
)

// DirWatcher tells when a window's address appears or goes, in any of the
// directories of SearchDirs, those included that are not there yet.
type DirWatcher struct {
	changes chan struct{} // holds one token when there was a change
	log     *slog.Logger
	ctx     context.Context
	cancel  context.CancelFunc
	ended   chan struct{}
}

// WatchDirs begins to watch. The logger may be nil.
func WatchDirs(log *slog.Logger) (*DirWatcher, error) {
	if log == nil {
		log = discard
	}
	w := &DirWatcher{changes: make(chan struct{}, 1), log: log, ended: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	if err := w.start(); err != nil {
		w.cancel()
		return nil, err
	}
	return w, nil
}

// Changes has one token for all changes since it was read last: read it, then
// ask List or Find what there is.
func (w *DirWatcher) Changes() <-chan struct{} { return w.changes }

// Close ends the watcher and waits for its goroutine.
func (w *DirWatcher) Close() error {
	w.cancel()
	<-w.ended
	return nil
}

func (w *DirWatcher) tell() {
	select {
	case w.changes <- struct{}{}:
	default: // one token says it all
	}
}
