//go:build unix

package terminal

import (
	"os/signal"
	"syscall"
)

// ignoreBackground has a read in the background fail, in place of stopping the process.
func ignoreBackground() { signal.Ignore(syscall.SIGTTIN) }
