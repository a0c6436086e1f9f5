//go:build unix

package group

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

// Group is a program with those that it has started.
type Group struct{ cmd *exec.Cmd }

// New prepares a group for a command that has not been started yet.
func New(cmd *exec.Cmd) (*Group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &Group{cmd}, nil
}

// Started is called when the command has been started.
func (g *Group) Started() error { return nil }

// Kill ends all that are left, also when the program itself has ended.
func (g *Group) Kill() error {
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) || runtime.GOOS == "darwin" && errors.Is(err, syscall.EPERM) { // of zombies only
		return nil
	}
	return err
}

// Close frees what the group needs.
func (g *Group) Close() {}
