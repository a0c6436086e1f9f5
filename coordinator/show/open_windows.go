package show

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// opener is a program that opens a link. Windows shows its arguments to the user alone.
func opener(link string) (*exec.Cmd, error) {
	return exec.Command("rundll32", "url.dll,FileProtocolHandler", link), nil
}

// detached is a group of its own: the console's keys do not reach it.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}
