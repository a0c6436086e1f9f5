package child

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// EndSignals are the signals that end a command in good order.
func EndSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// Run runs a program to its end, however long that takes. The console sends its events to
// the program as well.
func Run(program *exec.Cmd) error {
	received := make(chan os.Signal, 1)
	signal.Notify(received, EndSignals()...)
	defer signal.Stop(received)
	return program.Run()
}
