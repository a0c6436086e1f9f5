//go:build unix

package group

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

// Group is a program with the processes that it has started.
type Group struct{ cmd *exec.Cmd }

// New prepares a group for a command that has not been started yet.
func New(cmd *exec.Cmd) (*Group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &Group{cmd}, nil
}

// Started must be called when the command has started.
func (g *Group) Started() error { return nil }

// Kill ends all remaining processes, also after the program itself has ended.
func (g *Group) Kill() error {
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) || runtime.GOOS == "darwin" && errors.Is(err, syscall.EPERM) { // of zombies only
		return nil
	}
	return err
}

// Close releases the group's resources.
func (g *Group) Close() {}
