package chrome

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"browser-coordinator/cdpproxy/pipe"
	"browser-coordinator/coordinator/group"
)

const (
	defaultStartTimeout = 30 * time.Second
	// gracePeriod is the time for a browser to end by itself.
	gracePeriod = 3 * time.Second
	// lastChildren is the time for its helpers after it has ended.
	lastChildren = 2 * time.Second
	// tailLines is how many lines of the browser's output the error of a failed start holds.
	tailLines = 8

	listening     = "DevTools listening on "
	profilePrefix = "browser-coordinator-profile-"
	// downloadsFolder in a profile.
	downloadsFolder = "browser-coordinator-downloads"
)

// Browser is a browser that this process launched and owns.
type Browser struct {
	cmd     *exec.Cmd
	group   *group.Group // of the browser with its helpers
	guard   *guard       // ends the browser if this process is killed
	log     *slog.Logger
	profile *profile
	stderr  *os.File

	pipe *pipe.Server // nil: the browser has a debugging port
	url  string       // of the port
	tail []string     // written by readStderr until started is closed or the process ends

	started chan struct{}  // closed when the browser can be reached
	ready   sync.WaitGroup // until that is known of the pipe
	drained chan struct{}  // closed by readStderr when no process has stderr open
	exited  chan struct{}  // closed by await when the process has ended
	done    chan struct{}  // closed by await when everything is cleaned up
	err     error          // how the process ended; read after exited

	mu     sync.Mutex
	ending bool // guarded by mu: Close was called, so an exit is expected
}

// Launch starts a browser and returns once CDP clients can reach it. The context only
// bounds the start.
func Launch(ctx context.Context, opts Options) (*Browser, error) {
	if opts.Executable == "" {
		return nil, errors.New("launch a browser: no executable given")
	}
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	timeout := opts.StartTimeout
	if timeout == 0 {
		timeout = defaultStartTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	profile, err := openProfile(ctx, opts.UserDataDir, opts.Isolated)
	if err != nil {
		return nil, fmt.Errorf("launch %s: %w", opts.Executable, err)
	}
	b := &Browser{
		log: log, profile: profile,
		started: make(chan struct{}), drained: make(chan struct{}),
		exited: make(chan struct{}), done: make(chan struct{}),
	}
	if opts.Headless && opts.UserDataDir == "" {
		err = profile.keepDownloads(b.Downloads())
	}
	if err == nil {
		err = b.start(ctx, &opts)
	}
	if err != nil {
		b.leaveProfile()
		return nil, fmt.Errorf("launch %s: %w", opts.Executable, err)
	}
	select {
	case <-b.started:
		log.Info("browser launched", "pid", b.PID(), "debugging", b.debugging(), "profile", profile.dir)
		return b, nil
	case <-b.exited:
		<-b.done
		if err := noDisplay(b.tail); err != nil && !opts.Headless {
			return nil, fmt.Errorf("launch %s: %w", opts.Executable, err)
		}
		return nil, fmt.Errorf("launch %s: it ended before it was ready (%w)%s", opts.Executable, exitError(b.err), b.said())
	case <-ctx.Done():
		err := context.Cause(ctx)
		b.kill()
		<-b.done
		return nil, fmt.Errorf("launch %s: it is not ready within %v: %w%s", opts.Executable, timeout, err, b.said())
	}
}

// start runs the process and the two goroutines that Close waits for.
func (b *Browser) start(ctx context.Context, opts *Options) error {
	root := runsAsRoot()
	args, err := opts.arguments(b.profile.dir, root)
	if err != nil {
		return err
	}
	if root {
		b.log.Warn("running as root: the browser is started without its sandbox (--no-sandbox)")
	}
	guard, err := newGuard(b.profile.removable())
	if err != nil {
		return fmt.Errorf("prepare its watchdog: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		guard.release()
		return err
	}
	cmd := exec.Command(opts.Executable, args...)
	cmd.Env = append(environment(os.Environ()), privateFiles(b.profile.removable())...)
	cmd.Stderr = w
	// The group includes the helpers, and a Ctrl-C in our terminal does not reach the
	// browser.
	processes, err := group.New(cmd)
	var ends pipeEnds
	if err == nil && opts.usesPipe() {
		ends, err = openPipe(cmd)
	}
	if err == nil {
		err = cmd.Start()
	}
	w.Close()
	ends.leaveToBrowser()
	if err == nil && opts.usesPipe() {
		b.pipe, err = pipe.Serve(ends.in, ends.out, &pipe.Options{Logger: b.log})
		if err != nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	if err != nil {
		ends.close()
		r.Close()
		guard.release()
		return err
	}
	b.cmd, b.group, b.guard, b.stderr = cmd, processes, guard, r
	err = processes.Started()
	if err == nil {
		err = guard.watch(cmd.Process)
	}
	if err != nil {
		// Without its guard the browser could outlive this process: the launch fails instead.
		b.kill()
		cmd.Process.Kill()
		cmd.Wait()
		b.closePipe()
		r.Close()
		guard.release()
		processes.Close()
		return fmt.Errorf("start its watchdog: %w", err)
	}
	if b.pipe != nil {
		b.ready.Go(func() {
			if err := b.pipe.Ready(ctx); err == nil {
				close(b.started)
			}
		})
	}
	go b.readStderr()
	go b.await()
	return nil
}

// URL is the browser-level WebSocket URL. That of a pipe has a secret in its path.
func (b *Browser) URL() string {
	if b.pipe != nil {
		return b.pipe.URL()
	}
	return b.url
}

// debugging is how the browser is reached, for the log.
func (b *Browser) debugging() string {
	if b.pipe != nil {
		return "pipe"
	}
	return b.url
}

func (b *Browser) closePipe() {
	if b.pipe != nil {
		b.pipe.Close()
	}
}

// Downloads is a folder in the profile for running downloads. It is removed with the
// browser.
func (b *Browser) Downloads() string { return filepath.Join(b.profile.dir, downloadsFolder) }

// PID is the browser's process id.
func (b *Browser) PID() int { return b.cmd.Process.Pid }

// Done is closed when the browser and its helpers have ended and its private profile is
// removed.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Err returns how the browser ended: nil while it runs, after Close, and when another
// client closed it in good order.
func (b *Browser) Err() error {
	select {
	case <-b.done:
	default:
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ending || b.err == nil {
		return nil
	}
	return fmt.Errorf("the browser ended by itself (%w)", b.err)
}

// Close asks the browser to end. It kills what is left after the grace period or when ctx
// ends, and removes the private profile. It may be called again.
func (b *Browser) Close(ctx context.Context) error {
	b.mu.Lock()
	b.ending = true
	b.mu.Unlock()
	b.terminate()
	grace := time.NewTimer(gracePeriod)
	defer grace.Stop()
	select {
	case <-b.exited:
	case <-grace.C:
		b.log.Warn("the browser did not end by itself and is killed", "pid", b.PID())
		b.kill()
	case <-ctx.Done():
		b.kill()
	}
	<-b.done
	return nil
}

// readStderr reads the address of a debugging port from the line that every Chromium
// prints. It keeps reading: a full pipe would block the browser.
func (b *Browser) readStderr() {
	defer close(b.drained)
	r := bufio.NewReader(b.stderr)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			b.heard(line)
		}
		if err != nil {
			return
		}
	}
}

func (b *Browser) heard(line string) {
	b.log.Debug("browser", "stderr", line)
	if b.url != "" {
		return
	}
	if url, ok := strings.CutPrefix(line, listening); ok && b.pipe == nil {
		b.url = url
		close(b.started)
		return
	}
	if line = meaning(line); line == "" {
		return
	}
	b.tail = append(b.tail, line)
	if len(b.tail) > tailLines {
		b.tail = b.tail[1:]
	}
}

// await is the only function that handles the end of the browser, whatever the cause.
func (b *Browser) await() {
	defer close(b.done)
	b.err = b.cmd.Wait()
	close(b.exited)
	b.kill() // helpers of its process group that outlived it
	// The pipe ends with the last helper: then no process writes into the profile.
	last := time.AfterFunc(lastChildren, func() { b.stderr.Close() })
	<-b.drained
	last.Stop()
	b.stderr.Close()
	b.closePipe()
	b.ready.Wait()
	b.leaveProfile()
	b.guard.release()
	b.group.Close()
}

// kill ends the browser with its helpers, and nothing else.
func (b *Browser) kill() {
	if err := b.group.Kill(); err != nil {
		b.log.Debug("kill the browser and its helpers", "pid", b.PID(), "err", err)
	}
}

func (b *Browser) leaveProfile() {
	defer b.profile.release()
	if !b.profile.private {
		os.RemoveAll(b.Downloads())
		return
	}
	if err := os.RemoveAll(b.profile.dir); err != nil {
		b.log.Warn("the browser's private profile was not removed", "dir", b.profile.dir, "err", err)
	}
}

// said is the browser's last output before it failed to start; call it after done. The
// logger has all of it.
func (b *Browser) said() string {
	if len(b.tail) == 0 {
		return ""
	}
	return "; it said: " + b.tail[len(b.tail)-1]
}

// logPrefix is the prefix of each line in Chromium's log: processes, time, severity and
// the place in its sources.
var logPrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[[0-9:/.]+:[A-Z]+:([^\]]+)\] *`) })

// meaning is a line without details for Chromium's developers; empty if nothing is left.
// Without a desktop every Chromium complains about its message bus, and continues.
func meaning(line string) string {
	prefix := logPrefix().FindStringSubmatch(line)
	switch {
	case prefix == nil:
		return line
	case strings.HasPrefix(prefix[1], "dbus/"):
		return ""
	}
	return line[len(prefix[0]):]
}

// NoDisplayError reports that a browser needs a display for its window, and there is
// none.
type NoDisplayError struct{ Said string } // by the browser

func (e *NoDisplayError) Error() string {
	return fmt.Sprintf("the browser has no display to show its window on (%s)", e.Said)
}

// noDisplay finds the line by which a Chromium on Linux reports that; nil: there is none.
func noDisplay(lines []string) error {
	for _, line := range lines {
		for _, why := range []string{"Missing X server", "cannot open display", "Failed to connect to Wayland display"} {
			if strings.Contains(line, why) {
				return &NoDisplayError{line}
			}
		}
	}
	return nil
}

func exitError(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}
