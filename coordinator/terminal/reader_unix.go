//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// HasReader reports whether somebody can still read what is written to a stream: a pipe whose
// reader has ended has none.
func HasReader(stream any) bool {
	file, isFile := stream.(*os.File)
	if !isFile {
		return true
	}
	fds := []unix.PollFd{{Fd: int32(file.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err != nil || n == 0 || fds[0].Revents&(unix.POLLERR|unix.POLLHUP) == 0
}
