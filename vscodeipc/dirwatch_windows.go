package vscodeipc

import (
	"slices"
	"time"
)

// pollPipes is how often the pipe namespace is listed: it has no event for a
// name that appears that Go can wait for.
const pollPipes = time.Second

func (w *DirWatcher) start() error {
	go w.watch()
	return nil
}

// watch is owned by the watcher and ends with its context.
func (w *DirWatcher) watch() {
	defer close(w.ended)
	ticker := time.NewTicker(pollPipes)
	defer ticker.Stop()
	before, _ := List() // the first tick tells of a fault
	slices.Sort(before)
	for {
		select {
		case <-ticker.C:
		case <-w.ctx.Done():
			return
		}
		now, err := List()
		if err != nil {
			w.log.Warn("cannot list the named pipes", "error", err)
			continue
		}
		slices.Sort(now)
		if !slices.Equal(before, now) {
			w.tell()
		}
		before = now
	}
}
