//go:build unix

package child

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// EndSignals are the signals that end a command in good order. One that is ignored, as
// nohup does with the hang-up, stays ignored.
func EndSignals() (signals []os.Signal) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	return signals
}

// forUser are signals that end no command of ours, and have a meaning for some programs.
var forUser = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM}

// Run runs a program to its end, however long that takes. It passes on the signals that this
// process gets, except those of keys: the terminal sends them to the program as well.
func Run(program *exec.Cmd) error {
	received := make(chan os.Signal, 8)
	signal.Notify(received, append(EndSignals(), forUser...)...)
	defer signal.Stop(received)
	if err := program.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	for {
		select {
		case s := <-received:
			if fromKey := s == syscall.SIGINT || s == syscall.SIGQUIT; !fromKey || !inForeground() {
				_ = program.Process.Signal(s) // it may have ended
			}
		case err := <-ended:
			return err
		}
	}
}

// inForeground reports whether keys of the terminal send their signals to this process.
func inForeground() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
