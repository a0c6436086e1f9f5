package claim_test

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/internal/must"
)

func newPages(t *testing.T) *claim.Pages {
	t.Helper()
	return claim.NewPages(slog.New(slog.NewTextHandler(t.Output(), nil)))
}

// Only one of several agents has a page, while others release it and remove its file.
func TestOneAgentHasAPage(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var agents sync.WaitGroup
	var holders atomic.Int32
	for range 8 {
		pages := newPages(t)
		agents.Go(func() {
			for range 2_000 {
				release, err := pages.Claim("page")
				if errors.Is(err, claim.ErrTaken) {
					continue
				}
				if err != nil {
					t.Errorf("claim: %v", err)
					return
				}
				if n := holders.Add(1); n > 1 {
					t.Errorf("%d agents have the page", n)
				}
				holders.Add(-1)
				release()
			}
		})
	}
	agents.Wait()
}

// A page that nobody has is never refused, while other programs start and remove files.
func TestFreePageIsNeverRefused(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var starts sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		starts.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					newPages(t)
				}
			}
		})
	}
	pages := newPages(t)
	var agents sync.WaitGroup
	for agent := range 4 {
		agents.Go(func() {
			for n := range 1_000 {
				release, err := pages.Claim(fmt.Sprintf("page-%d-%d", agent, n))
				if err != nil {
					t.Errorf("claim of a page that nobody has: %v", err)
					return
				}
				release()
			}
		})
	}
	agents.Wait()
	close(done)
	starts.Wait()
}

// A browser that calls its page "../x" gets no file elsewhere.
func TestPageNamesNoFile(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	pages := newPages(t)
	for _, page := range []string{"", "../x", "a/b", string(make([]byte, 5_000))} {
		release := must.Get(pages.Claim(page))(t)
		if _, err := pages.Claim(page); !errors.Is(err, claim.ErrTaken) {
			t.Errorf("second claim of %.20q: %v, want ErrTaken", page, err)
		}
		release()
	}
}
