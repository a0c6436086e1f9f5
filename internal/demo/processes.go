package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// privateEnv is the user's environment, except that the coordinator keeps all its files
// in dir, so that none remains.
func privateEnv(dir string) []string {
	env := []string{
		"XDG_DATA_HOME=" + dir + "/data",
		"XDG_STATE_HOME=" + dir + "/state",
		"XDG_CACHE_HOME=" + dir + "/cache",
		"XDG_CONFIG_HOME=" + dir + "/config",
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "XDG_") {
			env = append(env, v)
		}
	}
	return env
}

// window is the running `coordinator window`.
type window struct {
	endpoint string
	cmd      *exec.Cmd
	stderr   *strings.Builder
}

// startWindow starts the window and waits for its first line, which contains the
// endpoint's address.
func startWindow(ctx context.Context, coordinator, workspace string, env []string, headed bool) (*window, error) {
	args := []string{"window", "--workspace", workspace}
	if !headed {
		args = append(args, "--headless")
	}
	w := &window{cmd: exec.CommandContext(ctx, coordinator, args...), stderr: new(strings.Builder)}
	w.cmd.Env = env
	w.cmd.Stderr = w.stderr
	w.cmd.Cancel = func() error { return w.cmd.Process.Signal(os.Interrupt) }
	w.cmd.WaitDelay = 5 * time.Second
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the window: %w", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		waitErr := w.cmd.Wait()
		if errors.Is(err, io.EOF) {
			err = waitErr
		}
		return nil, fmt.Errorf("the window ended before it was ready: %w\n%s", err, w.stderr)
	}
	w.endpoint = strings.TrimSpace(line)
	return w, nil
}

// stop interrupts the window and waits for it and for its browser.
func (w *window) stop() error {
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("end the window: %w", err)
	}
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("end the window: %w\n%s", err, w.stderr)
	}
	return nil
}
