//go:build unix

package chrome

import (
	"os"
	"os/exec"
	"syscall"
)

// hasPipe: a browser can be debugged over a pipe.
const hasPipe = true

// openPipe gives the browser the descriptors 3, where it reads, and 4, where it writes.
func openPipe(cmd *exec.Cmd) (e pipeEnds, err error) {
	if e.browser[0], e.out, err = os.Pipe(); err == nil {
		e.in, e.browser[1], err = os.Pipe()
	}
	for _, f := range e.browser {
		if err == nil {
			// Chromium treats EAGAIN as the end.
			err = blocking(f)
		}
	}
	if err != nil {
		e.close()
		return pipeEnds{}, err
	}
	cmd.ExtraFiles = e.browser[:]
	return e, nil
}

func blocking(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) { failed = syscall.SetNonblock(int(fd), false) })
	if err != nil {
		return err
	}
	return failed
}
