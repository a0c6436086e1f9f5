package chrome

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is the limit that Linux allows every user; the default is 64 KiB.
const pipeSize = 1 << 20

// enlarge saves most of the context switches between the browser and this process during
// a large message.
func enlarge(f *os.File) {
	if conn, err := f.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}
