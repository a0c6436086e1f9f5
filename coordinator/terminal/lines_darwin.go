package terminal

import (
	"errors"
	"os"
	"path/filepath"
)

// deviceOf is a path that opens the terminal anew. One in /dev/fd only duplicates the file
// descriptor, so that the shell would share the mode.
func deviceOf(terminal *os.File) (string, error) {
	opened, err := terminal.Stat()
	if err != nil {
		return "", err
	}
	devices, err := filepath.Glob("/dev/tty?*")
	if err != nil {
		return "", err
	}
	for _, device := range devices {
		if info, err := os.Stat(device); err == nil && os.SameFile(info, opened) {
			return device, nil
		}
	}
	return "", errors.New("the terminal has no device in /dev")
}
