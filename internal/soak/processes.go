//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runVariable marks every descendant process of this run, in its environment.
const runVariable = "BROWSER_COORDINATOR_SOAK"

// place is the folder and the environment of a run.
type place struct {
	dir, coordinator string
	env              []string
}

func newPlace(coordinator string) (*place, error) {
	dir, err := os.MkdirTemp("", "s-") // short: a browser keeps a socket below it
	if err != nil {
		return nil, err
	}
	p := &place{dir: dir, coordinator: coordinator}
	for _, name := range []string{"HOME", "TMPDIR", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
		"XDG_RUNTIME_DIR"} {
		folder := filepath.Join(dir, strings.ToLower(strings.TrimPrefix(name, "XDG_"))[:2])
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, err
		}
		p.env = append(p.env, name+"="+folder)
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name != "HOME" && name != "TMPDIR" && !strings.HasPrefix(name, "XDG_") {
			p.env = append(p.env, v)
		}
	}
	p.env = append(p.env, runVariable+"="+dir)
	return p, nil
}

func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.coordinator, args...)
	cmd.Env = p.env
	return cmd
}

// startTimeout is the timeout for the start of a window on a busy machine.
const startTimeout = 90 * time.Second

// startWindow starts a window and its browser, and returns when it is ready.
func (p *place) startWindow(ctx context.Context, workspace, url string) (*exec.Cmd, string, error) {
	cmd := p.command("window", "--headless", "--workspace", workspace, "--url", url)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	timer := time.AfterFunc(startTimeout, func() { cmd.Process.Kill() })
	stop := context.AfterFunc(ctx, func() { cmd.Process.Signal(os.Interrupt) })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	timer.Stop()
	stop()
	if err != nil {
		cmd.Wait()
		return nil, "", fmt.Errorf("the window on %s did not start: %w: %s", workspace, err, stderr.String())
	}
	return cmd, strings.TrimSpace(line), nil
}

// running returns the processes of this run, except its own.
func (p *place) running() map[int]string {
	all := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !bytes.Contains(env, []byte(runVariable+"="+p.dir)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		all[pid] = strings.ReplaceAll(string(line), "\x00", " ")
	}
	return all
}

// browserOf is the browser of a window's process: the child with a profile argument; 0
// if there is none.
func (p *place) browserOf(window int) int {
	for pid, line := range p.running() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, ok := bytes.Cut(stat, []byte(") "))
		if err != nil || !ok || !strings.Contains(line, "--user-data-dir=") || strings.Contains(line, "--type=") {
			continue
		}
		if fields := strings.Fields(string(rest)); len(fields) > 1 && fields[1] == strconv.Itoa(window) {
			return pid
		}
	}
	return 0
}

// leaving is the time for the last processes of a run to end by themselves.
const leaving = 30 * time.Second

// checkLeft counts what is left of a run whose windows and agents have ended, and
// removes it. It polls, since no event reports processes without a parent here.
func (p *place) checkLeft(r *result, leaving time.Duration) {
	deadline := time.Now().Add(leaving)
	left := p.running()
	for len(left) > 0 && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
		left = p.running()
	}
	for pid, line := range left {
		r.fault("orphaned", "the process %d: %.200s", pid, line)
		syscall.Kill(pid, syscall.SIGKILL)
	}
	// The next coordinator removes the sockets of killed windows.
	if out, err := p.command("status").CombinedOutput(); err != nil {
		r.fault("orphaned", "coordinator status: %v: %s", err, out)
	}
	filepath.WalkDir(p.dir, func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, p.dir+"/")
		switch {
		case err != nil:
		case strings.HasPrefix(name, "tm/"):
			r.fault("orphaned", "the temporary %s", name)
			if e.IsDir() {
				return fs.SkipDir
			}
		case e.Type()&fs.ModeSocket != 0:
			r.fault("orphaned", "the socket %s", name)
		case strings.HasSuffix(name, ".lock") && locked(path):
			r.fault("orphaned", "the lock %s", name)
		}
		return nil
	})
	if err := os.RemoveAll(p.dir); err != nil {
		r.fault("orphaned", "the run's folder: %v", err)
	}
}

// locked reports whether a process holds the lock of a file.
func locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}
