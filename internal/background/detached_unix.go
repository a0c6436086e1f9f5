//go:build unix

package background

import "syscall"

// detached is a session of its own: the terminal's keys and its end do not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
