//go:build unix

package chrome

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// browserOn names the browser that runs on a profile; empty if there is none. Chrome
// locks its profile by a link SingletonLock to HOST-PID. A link that a killed browser has
// left is removed, also one with another host name (a container has a new one at each
// start): no other coordinator uses the profile while this one has its lock.
func browserOn(dir string) string {
	holder, err := os.Readlink(filepath.Join(dir, "SingletonLock"))
	if err != nil {
		return ""
	}
	i := strings.LastIndexByte(holder, '-')
	host, err := os.Hostname()
	if i > 0 && err == nil && holder[:i] == host {
		pid, err := strconv.Atoi(holder[i+1:])
		if err == nil && pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return fmt.Sprintf("a browser (process %d)", pid)
		}
	}
	for _, name := range []string{"SingletonLock", "SingletonCookie", "SingletonSocket"} {
		os.Remove(filepath.Join(dir, name))
	}
	return ""
}
