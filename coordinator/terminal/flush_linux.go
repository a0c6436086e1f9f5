package terminal

import "golang.org/x/sys/unix"

// flush drops what was typed and not read yet, also a line without its end.
func flush(fd uintptr) error { return unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
