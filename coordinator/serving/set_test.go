package serving

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/coordinator/registry"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/vscodeipc"
)

// seen is a log that reports its first message.
type seen struct {
	slog.Handler
	first chan struct{}
}

func (s *seen) Enabled(context.Context, slog.Level) bool { return true }

func (s *seen) Handle(context.Context, slog.Record) error {
	select {
	case s.first <- struct{}{}:
	default:
	}
	return nil
}

// TestOwnerThatDoesNotRespond: a process that owns a folder's endpoint and is stopped delays no agent in another
// folder.
func TestOwnerThatDoesNotRespond(t *testing.T) {
	for _, name := range []string{"XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	dir, err := statedir.Make()
	if err != nil {
		t.Fatal(err)
	}
	stopped, other := t.TempDir(), t.TempDir()
	lock := flock.New(filepath.Join(dir, "endpoint-"+vscodeipc.Hash(stopped)+".lock"), flock.SetPermissions(0o600))
	if free, err := lock.TryLock(); !free || err != nil {
		t.Fatal(free, err)
	}
	defer lock.Unlock()
	windows := registry.Open(t.Context(), registry.Options{})
	defer windows.Close()
	waits := &seen{slog.DiscardHandler, make(chan struct{}, 1)}
	set := NewSet(windows, Options{HoldTimeout: cdpproxy.NoHold, Logger: slog.New(waits)})
	defer set.Close()
	served := make(chan error, 1)
	go func() {
		_, err := set.Serve(stopped)
		served <- err
	}()
	<-waits.first
	if addr, err := set.Serve(other); err != nil || addr.URL == "" {
		t.Errorf("the other folder's: %+v %v", addr, err)
	}
	select {
	case err := <-served:
		t.Fatalf("the other folder waits until the endpoint of the stopped process is given up: %v", err)
	default:
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if addr, err := set.Serve(stopped); err != nil || addr.URL == "" {
		t.Errorf("once more: %+v %v", addr, err)
	}
}
