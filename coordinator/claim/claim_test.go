package claim_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
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

// newOwner is an agent of another program.
func newOwner(t *testing.T, name string) *claim.Owner {
	t.Helper()
	return newPages(t).Owner(rand.Text(), name)
}

// Only one of several agents has a page, while others release it and remove its file.
func TestOneAgentHasAPage(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var agents sync.WaitGroup
	var holders atomic.Int32
	for range 8 {
		pages := newOwner(t, "agent")
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

// What an owner has claimed is never another one's to it, and is free after its last release.
func TestOwnClaimTwice(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	agent, other := newOwner(t, "another agent (a)"), newOwner(t, "another agent (b)")
	first := must.Get(agent.Claim("page"))(t)
	second := must.Get(agent.Claim("page"))(t)
	isTaken := func(want bool) {
		t.Helper()
		release, err := other.Claim("page")
		if errors.Is(err, claim.ErrTaken) != want {
			t.Errorf("another one's claim: %v", err)
		}
		if err == nil {
			release()
		}
	}
	isTaken(true)
	first()
	first()
	isTaken(true)
	second()
	isTaken(false)
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
	pages := newOwner(t, "agent")
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
	pages := newOwner(t, "first")
	for _, page := range []string{"", "../x", "a/b", string(make([]byte, 5_000))} {
		release := must.Get(pages.Claim(page))(t)
		_, err := newOwner(t, "other").Claim(page)
		if !errors.Is(err, claim.ErrTaken) || err.Error() != "first has it" {
			t.Errorf("second claim of %.20q: %v, want ErrTaken", page, err)
		}
		release()
	}
}

// What an owner has set is read by each other one, until it has ended that, while others read and set.
func TestOthersReadWhatIsSet(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	setter, reader := newOwner(t, "setter"), newOwner(t, "reader")
	expect := func(owner *claim.Owner, thing string, want ...string) {
		t.Helper()
		if got := owner.Others(thing); !slices.Equal(got, want) {
			t.Errorf("the others have set %q on %s, want %q", got, thing, want)
		}
	}
	must.Do(t, setter.Set("page", "routes", "routes"))
	must.Do(t, setter.Set("page", "network", "is offline"))
	must.Do(t, setter.Set("other page", "routes", "routes there"))
	expect(reader, "page", "setter is offline", "setter routes")
	expect(setter, "page")
	must.Do(t, setter.Set("page", "routes", "routes more"))
	must.Do(t, setter.Set("page", "network", ""))
	newPages(t) // which cleans the folder
	expect(reader, "page", "setter routes more")
	setter.Forget("page")
	expect(reader, "page")
	expect(reader, "other page", "setter routes there")

	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					reader.Others("page")
				}
			}
		})
	}
	for n := range 300 {
		must.Do(t, setter.Set("page", "routes", fmt.Sprint("route ", n)))
		expect(newOwner(t, "late"), "page", fmt.Sprint("setter route ", n))
	}
	close(done)
	readers.Wait()
	setter.Forget("page")
	setter.Forget("other page")
	if files := must.Get(filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "*", "set-*")))(t); len(files) > 0 {
		t.Errorf("files stay: %q", files)
	}
}
