//go:build unix

package terminal

import (
	"os"
	"os/signal"
	"syscall"
)

// reopen opens a terminal once more, in a mode in which a read can be interrupted. The first
// one shares its mode with the shell. In the background a read fails, in place of stopping
// the process.
func reopen(terminal *os.File) (*os.File, error) {
	device, err := deviceOf(terminal)
	if err != nil {
		return nil, err
	}
	signal.Ignore(syscall.SIGTTIN)
	return os.OpenFile(device, os.O_RDONLY|syscall.O_NOCTTY, 0)
}
