package show

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// opener is a program that opens a link. Other users can read it in the list of processes, but
// their connections are closed.
func opener(link string) (*exec.Cmd, error) {
	if os.Getenv("DISPLAY")+os.Getenv("WAYLAND_DISPLAY")+os.Getenv("BROWSER") == "" {
		return nil, errors.New("there is no screen")
	}
	return exec.Command("xdg-open", link), nil
}

// detached is a session of its own: the terminal's keys do not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
