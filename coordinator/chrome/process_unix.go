//go:build unix

package chrome

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func runsAsRoot() bool { return os.Geteuid() == 0 }

// terminate signals the browser to end; it then saves its profile.
func (b *Browser) terminate() {
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		b.log.Warn("ask the browser to end", "pid", b.PID(), "err", err)
	}
}

// watchdog waits on its input, whose other end only this process has. A line is a
// command; the end of input means that this process has died. First line: the browser's
// process id. Second line: everything is cleaned up, exit.
const watchdog = `trap '' HUP INT TERM
read -r group || { rm -rf -- ${1:+"$1"}; exit 0; }
read -r order && exit 0
kill -KILL "-$group"
while [ -n "$1" ] && [ -e "$1" ] && [ "${n:=0}" -lt 20 ]; do rm -rf -- "$1" && break; n=$((n+1)); done
exit 0`

// guard is the running watchdog. Pdeathsig is no replacement for it: that is
// tied to a thread, exists on Linux only and leaves the profile behind.
type guard struct {
	cmd   *exec.Cmd
	input io.WriteCloser
}

func newGuard(private string) (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", watchdog, "browser-coordinator-watchdog", private)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Dir = "/"
	// A session of its own: a signal to our process group must not end the guard.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &guard{cmd: cmd, input: input}, nil
}

func (g *guard) watch(browser *os.Process) error {
	_, err := io.WriteString(g.input, strconv.Itoa(browser.Pid)+"\n")
	return err
}

// release notifies the watchdog that there is nothing left to do. Before watch, closing
// the input would be enough, but then the watchdog may remove what is removed already.
func (g *guard) release() {
	// The write fails if the watchdog was killed; then it needs no notice.
	_, _ = io.WriteString(g.input, "\n")
	_, _ = io.WriteString(g.input, "\n")
	g.input.Close()
	_ = g.cmd.Wait()
}
