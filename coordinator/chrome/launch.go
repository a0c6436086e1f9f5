package chrome

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/multiplex"
	"browser-coordinator/coordinator/group"
)

const (
	// launchTimeout bounds the time until the browser can be reached.
	launchTimeout = 30 * time.Second
	// gracePeriod is the time for a browser to end by itself.
	gracePeriod = 3 * time.Second
	// helperTimeout is the time for its helpers after it has ended.
	helperTimeout = 2 * time.Second

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
	output  *output
	pipe    *multiplex.Server // nil: the browser has a debugging port
	proxy   string            // as in Options

	ending atomic.Bool   // Close was called, so an exit is expected
	exited chan struct{} // closed by await when the process has ended
	done   chan struct{} // closed by await when everything is cleaned up
	err    error         // how the process ended; read after exited
}

// Launch starts a browser and returns once CDP clients can reach it. The context only
// bounds the start.
func Launch(ctx context.Context, opts Options) (*Browser, error) {
	b, err := launch(ctx, &opts)
	if err != nil {
		return nil, fmt.Errorf("launch %s: %w", cmp.Or(opts.Executable, "a browser"), err)
	}
	return b, nil
}

func launch(ctx context.Context, opts *Options) (*Browser, error) {
	if opts.Executable == "" {
		return nil, errors.New("no executable given")
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	profile, err := openProfile(ctx, opts.UserDataDir, opts.Isolated)
	if err != nil {
		return nil, err
	}
	b := &Browser{log: opts.Logger, profile: profile, proxy: opts.Proxy, exited: make(chan struct{}),
		done: make(chan struct{})}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if opts.Headless && opts.UserDataDir == "" {
		err = profile.keepDownloads(b.Downloads())
	}
	if err == nil {
		err = b.start(opts)
	}
	if err != nil {
		b.leaveProfile()
		return nil, err
	}
	if err := b.awaitReady(ctx); err != nil {
		return nil, b.failed(ctx, err, opts.Headless)
	}
	debugging := "pipe"
	if b.pipe == nil {
		debugging = b.output.url
	}
	b.log.Info("browser launched", "pid", b.PID(), "debugging", debugging, "profile", profile.dir)
	return b, nil
}

// start runs the process and the two goroutines that Close waits for.
func (b *Browser) start(opts *Options) (err error) {
	root := runsAsRoot()
	args, err := opts.arguments(b.profile.dir, root)
	if err != nil {
		return err
	}
	if root {
		b.log.Warn("running as root: the browser is started without its sandbox (--no-sandbox)")
	}
	b.guard, err = newGuard(b.profile.removable())
	if err != nil {
		return fmt.Errorf("prepare its watchdog: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		b.guard.release()
		return err
	}
	b.cmd = exec.Command(opts.Executable, args...)
	b.cmd.Env = append(environment(os.Environ()), privateFiles(b.profile.removable())...)
	b.cmd.Stderr = w
	// The group includes the helpers, and a Ctrl-C in our terminal does not reach the
	// browser.
	b.group, err = group.New(b.cmd)
	var ends pipeEnds
	if err == nil && opts.usesPipe() {
		ends, err = openPipe(b.cmd)
	}
	if err == nil {
		err = b.cmd.Start()
	}
	w.Close()
	ends.leaveToBrowser()
	if err != nil {
		ends.close()
		r.Close()
		b.guard.release()
		return err
	}
	b.output = newOutput(r, b.log)
	if opts.usesPipe() {
		b.pipe, err = multiplex.Serve(multiplex.Pipe(ends.in, ends.out), b.log)
		if err != nil {
			ends.close()
		}
	}
	go b.await()
	if err == nil {
		err = b.group.Started()
	}
	if err == nil {
		err = b.guard.watch(b.cmd.Process)
	}
	if err != nil {
		// Without its guard the browser could outlive this process: the launch fails instead.
		b.kill()
		_ = b.cmd.Process.Kill() // it may not be in its group yet
		<-b.done
		return fmt.Errorf("start its watchdog: %w", err)
	}
	return nil
}

// awaitReady returns when CDP clients can reach the browser.
func (b *Browser) awaitReady(ctx context.Context) error {
	if b.pipe != nil {
		return b.pipe.Ready(ctx) // the pipe ends with the browser
	}
	select {
	case <-b.output.listening:
		return nil
	case <-b.output.drained:
		return errors.New("it closed its output")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// failed ends a browser that cannot be reached, and returns the reason.
func (b *Browser) failed(ctx context.Context, err error, headless bool) error {
	select {
	case <-b.exited:
	case <-ctx.Done():
		b.kill()
		<-b.done
		return fmt.Errorf("it was not ready in time: %w%s", err, b.output.cause())
	}
	<-b.done
	if line := b.output.noDisplay; line != "" && !headless {
		return fmt.Errorf("%w (%s)", ErrNoDisplay, line)
	}
	status := "exit status 0"
	if b.err != nil {
		status = b.err.Error()
	}
	return fmt.Errorf("it ended before it was ready (%s)%s", status, b.output.cause())
}

// URL is the browser-level WebSocket URL. That of a pipe has a secret in its path.
func (b *Browser) URL() string {
	if b.pipe != nil {
		return b.pipe.URL()
	}
	return b.output.url
}

// InProcess is the browser for clients within this process; nil: it has a debugging port.
func (b *Browser) InProcess() browser.Browser {
	if b.pipe == nil {
		return nil
	}
	return b.pipe
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
	if b.ending.Load() || b.err == nil {
		return nil
	}
	return fmt.Errorf("the browser ended by itself (%w)", b.err)
}

// Close asks the browser to end. It kills what is left after the grace period or when ctx
// ends, and removes the private profile. It may be called again.
func (b *Browser) Close(ctx context.Context) error {
	b.ending.Store(true)
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

// await is the only function that handles the end of the browser, whatever the cause.
func (b *Browser) await() {
	defer close(b.done)
	b.err = b.cmd.Wait()
	close(b.exited)
	b.kill() // helpers of its process group that outlived it
	// Its output ends with the last helper: then no process writes into the profile.
	b.output.drain(helperTimeout)
	if b.pipe != nil {
		b.pipe.Close()
	}
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
