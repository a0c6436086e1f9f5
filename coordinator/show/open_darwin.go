package show

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

// opener keeps the link out of the list of processes, which other users can read.
func opener(link string) (*exec.Cmd, error) {
	cmd := exec.Command("osascript")
	cmd.Stdin = strings.NewReader(fmt.Sprintf("open location %q", link))
	return cmd, nil
}

// detached is a session of its own: the terminal's keys do not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
