package pagelock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagelock"
)

// holdVariable makes this program hold a page's lock until it is killed.
const holdVariable = "PAGELOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	if page := os.Getenv(holdVariable); page != "" {
		release, err := pagelock.Capture.Acquire(context.Background(), page)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		end := make(chan os.Signal, 1)
		signal.Notify(end, os.Interrupt)
		fmt.Println("held")
		<-end // it is killed
		_ = release()
	}
	os.Exit(m.Run())
}

// One at a time has the lock, and each one gets it, while others remove the files of killed programs.
func TestOneHolder(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var holding, cleaning sync.WaitGroup
	var holders atomic.Int32
	done := make(chan struct{})
	cleaning.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if err := pagelock.Clean(); err != nil {
					t.Errorf("clean: %v", err)
				}
			}
		}
	})
	for range 4 {
		holding.Go(func() {
			for range 100 {
				release, err := pagelock.Capture.Acquire(t.Context(), "page")
				if err != nil {
					t.Errorf("acquire: %v", err)
					return
				}
				if n := holders.Add(1); n > 1 {
					t.Errorf("%d holders", n)
				}
				holders.Add(-1)
				if err := release(); err != nil {
					t.Errorf("release: %v", err)
				}
			}
		})
	}
	holding.Wait()
	close(done)
	cleaning.Wait()
}

// A wait ends with its context, and the lock of a killed program is free.
func TestHolderInAnotherProgram(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	holder := exec.CommandContext(t.Context(), must.Get(os.Executable())(t))
	holder.Env, holder.Stderr = append(os.Environ(), holdVariable+"=page"), os.Stderr
	out := must.Get(holder.StdoutPipe())(t)
	must.Do(t, holder.Start())
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("the other program does not hold the lock")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := pagelock.Capture.Acquire(ctx, "page"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another program holds it: %v, want the deadline", err)
	}
	for _, other := range []pagelock.Kind{pagelock.Agent, pagelock.Capture} {
		page := "page"
		if other == pagelock.Capture {
			page = "another page"
		}
		release := must.Get(other.Acquire(t.Context(), page))(t)
		must.Do(t, release())
	}
	must.Do(t, holder.Process.Kill())
	_ = holder.Wait() // killed
	release := must.Get(pagelock.Capture.Acquire(t.Context(), "page"))(t)
	must.Do(t, release())
}
