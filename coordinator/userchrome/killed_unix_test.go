//go:build unix

package userchrome

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"browser-coordinator/coordinator/launch"
	"browser-coordinator/internal/desktoptest"
	"browser-coordinator/internal/must"
)

// TestOwnerKilledWhileOthersWait: whether the process that has the connection is killed while the browser asks,
// or stopped while it is in use, no other program waits for longer than its own time, and the next attempt works.
func TestOwnerKilledWhileOthersWait(t *testing.T) {
	profile := home(t)
	screen := desktoptest.Start(t)
	screen.Browser(profile, true)
	sources := []*launch.OnDemand{source(t, "chromium"), source(t, "chromium"), source(t, profile)}
	waiting := []*opened{open(t.Context(), sources[0])}
	screen.AwaitQuestion()
	for _, each := range sources[1:] {
		waiting = append(waiting, open(t.Context(), each))
		screen.Await("it waits for the user", func() bool { return each.Waiting() != "" })
	}
	owner := must.Get(os.FindProcess(Connections(t.Context())[0].PID))(t)
	must.Do(t, owner.Kill())
	// Those who wait start another owner, and share its question.
	screen.Press(desktoptest.Allow, waiting[0].done)
	for i, each := range waiting {
		<-each.done
		if each.err != nil || each.url != waiting[0].url {
			t.Fatalf("%d: %v at %s, the first at %s", i, each.err, each.url, waiting[0].url)
		}
	}

	owner = must.Get(os.FindProcess(Connections(t.Context())[0].PID))(t)
	must.Do(t, owner.Signal(syscall.SIGSTOP))
	late := source(t, profile)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	r := open(ctx, late)
	<-r.done
	if took := time.Since(began); r.err == nil || took > 20*time.Second {
		t.Errorf("the owner is stopped: %v after %v", r.err, took)
	}
	var ends []<-chan struct{}
	for _, each := range sources {
		ends = append(ends, each.Done())
	}
	must.Do(t, owner.Kill())
	for i, end := range ends {
		<-end
		if err := sources[i].Err(); err == nil || !strings.Contains(err.Error(), "asks you again") {
			t.Errorf("%d: %v", i, err)
		}
	}
	r = open(t.Context(), late)
	screen.Press(desktoptest.Allow, r.done)
	must.Do(t, r.err)
}
