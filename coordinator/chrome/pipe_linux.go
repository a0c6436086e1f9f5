package chrome

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is what Linux lets every user have; 64 KiB is what a pipe has else.
const pipeSize = 1 << 20

// enlarge saves most of the changes between the browser and this process while a
// large message passes.
func enlarge(f *os.File) {
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}
