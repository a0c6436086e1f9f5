//go:build unix

package show

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// opener is a program that opens a link. Other users can read the list of processes. On macOS the
// link is not in it; on Linux their connections are closed.
func opener(link string) (*exec.Cmd, error) {
	if runtime.GOOS == "darwin" {
		cmd := exec.Command("osascript")
		cmd.Stdin = strings.NewReader(fmt.Sprintf("open location %q", link))
		return cmd, nil
	}
	if os.Getenv("DISPLAY")+os.Getenv("WAYLAND_DISPLAY")+os.Getenv("BROWSER") == "" {
		return nil, errors.New("there is no screen")
	}
	return exec.Command("xdg-open", link), nil
}

// detached is a session of its own: the terminal's keys do not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
