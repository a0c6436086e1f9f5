package background

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached is a process without the console, which its keys and its end do not reach.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS, HideWindow: true,
	}
}
