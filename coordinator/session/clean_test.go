package session

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"browser-coordinator/internal/must"
)

// TestSweep: a session removes the files of those that ended long ago, and no others: of one that runs, that
// begins just now, or that ended a short time ago.
func TestSweep(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	place := func(name string, kinds ...string) Place {
		p := must.Get(Find(name, t.TempDir()))(t)
		long := time.Now().Add(-keptFor - time.Hour)
		for _, kind := range kinds {
			must.Do(t, os.WriteFile(p.path(kind), nil, 0o600))
			must.Do(t, os.Chtimes(p.path(kind), long, long))
		}
		return p
	}
	own := place("own", "lock", "live", "log")
	place("ended", "lock", "live", "log")
	runs := place("runs", "sock", "lock", "live", "log")
	recent := place("recent", "lock", "live")
	must.Do(t, os.WriteFile(recent.path("log"), []byte("why it ended"), 0o600))
	begins := place("begins", "lock", "live", "log")
	unlock := must.Get(begins.lock(t.Context()))(t)
	must.Do(t, own.sweep())
	var want []string
	for _, p := range []Place{own, runs, recent, begins} {
		want = append(want, p.path("lock"), p.path("live"), p.path("log"))
	}
	want = append(want, runs.path("sock"))
	slices.Sort(want)
	if got := must.Get(filepath.Glob(filepath.Join(own.dir, "*")))(t); !slices.Equal(got, want) {
		t.Errorf("what is left is %q, want %q", got, want)
	}
	unlock()
	must.Do(t, own.sweep())
	if _, err := os.Lstat(begins.path("live")); err == nil {
		t.Error("the files of a session that has not begun stay")
	}
	// A lock whose file was removed keeps nobody out: the next one is that of the file which is there now.
	again := must.Get(begins.lock(t.Context()))(t)
	defer again()
	waiting, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if second, err := begins.lock(waiting); err == nil {
		second()
		t.Error("two commands have one lock")
	}
}
