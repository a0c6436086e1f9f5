//go:build unix

package desktoptest

import (
	"os/exec"
	"syscall"
)

// group makes a program the first of a process group.
func group(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } // it may have ended
