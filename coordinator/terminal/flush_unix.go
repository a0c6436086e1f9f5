//go:build unix && !linux

package terminal

import "golang.org/x/sys/unix"

// flush drops what was typed and not read yet, also a line without its end.
func flush(fd uintptr) error { return unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, unix.TCIFLUSH) }
