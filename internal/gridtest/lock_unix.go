//go:build unix

package gridtest

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock waits until no other grid runs on this machine: several at a time would slow down
// the tests of other packages. The lock is on a file that is there anyway, and ends with
// the process.
func lock(file string) (release func() error, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f.Close, nil
}
