//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// target is a process that may be killed or stopped at any time.
type target struct {
	name string
	mu   sync.Mutex // guards pid
	pid  int        // 0: it is not running
}

func (t *target) set(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pid = pid
}

// signal sends a signal, and reports whether there was a process. The lock keeps the
// owner from reaping the process meanwhile, so that the pid is not another's.
func (t *target) signal(s syscall.Signal) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pid != 0 && syscall.Kill(t.pid, s) == nil
}

// window is one `coordinator window`, started again whenever it ends.
type window struct {
	target
	place     *place
	site      *site
	result    *result
	workspace string

	mu       sync.Mutex // guards the fields that follow
	endpoint string
	changed  int
}

// changes counts the starts and ends of the window.
func (w *window) changes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

func (w *window) change() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed++
}

func newWindow(p *place, s *site, r *result, number int) (*window, error) {
	w := &window{target: target{name: fmt.Sprintf("w%d", number)}, place: p, site: s, result: r}
	w.workspace = filepath.Join(p.dir, w.name)
	return w, os.Mkdir(w.workspace, 0o700)
}

// run keeps the window running until ctx ends, and closes ready when it is ready for the
// first time.
func (w *window) run(ctx context.Context, ready chan<- struct{}) {
	for first := true; ctx.Err() == nil; {
		cmd, endpoint, err := w.place.startWindow(ctx, w.workspace, w.site.page(w.name))
		if err != nil {
			if ctx.Err() == nil {
				w.result.fault("hung", "%v", err)
				return
			}
			return
		}
		w.result.add("window starts")
		w.mu.Lock()
		if w.endpoint != "" && w.endpoint != endpoint {
			w.result.fault("wrong", "the endpoint of %s was %s and is %s", w.name, w.endpoint, endpoint)
		}
		w.endpoint = endpoint
		w.mu.Unlock()
		w.change()
		w.set(cmd.Process.Pid)
		if first {
			first = false
			close(ready)
		}
		w.wait(ctx, cmd)
		w.change()
	}
}

// wait returns when the window has ended. When ctx ends it interrupts the window.
func (w *window) wait(ctx context.Context, cmd *exec.Cmd) {
	exited := make(chan struct{})
	go func() { // ends with the process
		w.reap(cmd)
		close(exited)
	}()
	select {
	case <-exited:
	case <-ctx.Done():
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-exited:
		case <-time.After(callTimeout): // longer than the window gives its browser
			w.result.fault("hung", "the window %s does not end", w.name)
			cmd.Process.Kill()
			<-exited
		}
	}
}

// reap waits for the process. From the moment when its pid may be another's, no signal
// is sent to it.
func (t *target) reap(cmd *exec.Cmd) {
	unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	t.set(0)
	cmd.Wait()
}

func (w *window) address() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.endpoint
}

// disturb kills, stops and ends random processes until ctx ends. It resumes those that
// it stops.
func disturb(ctx context.Context, random *rand.Rand, r *result, windows []*window, agents []*agent) {
	for {
		pause := time.NewTimer(time.Second + time.Duration(random.Int64N(int64(4*time.Second))))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
		what := &windows[random.IntN(len(windows))].target
		kind := "window"
		switch random.IntN(5) {
		case 0, 1:
			what = &agents[random.IntN(len(agents))].target
			kind = "agent"
		case 2, 3:
			what.mu.Lock()
			pid := what.pid
			what.mu.Unlock()
			browser := 0
			if pid != 0 {
				browser = windows[0].place.browserOf(pid)
			}
			what = &target{name: what.name, pid: browser}
			kind = "browser"
		}
		switch random.IntN(4) {
		case 0, 1:
			if what.signal(syscall.SIGSTOP) {
				r.disturbed("stops of "+kind+"s", what.name)
				stopped := time.NewTimer(time.Duration(random.Int64N(int64(3 * time.Second))))
				select {
				case <-stopped.C:
				case <-ctx.Done():
					stopped.Stop()
				}
				what.signal(syscall.SIGCONT)
			}
		case 2:
			if what.signal(syscall.SIGKILL) {
				r.disturbed("kills of "+kind+"s", what.name)
			}
		case 3:
			if what.signal(syscall.SIGTERM) {
				r.disturbed("ends of "+kind+"s", what.name)
			}
		}
	}
}
