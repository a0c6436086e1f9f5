package eventloop

import "golang.org/x/sys/unix"

// room is the kernel's buffer size for a socket that has received large frames.
const room = 4 << 20

// SetLowWater makes the kernel report a socket readable when that many bytes are
// there, at the end of the stream, or when the buffer is full: socket(7)
// SO_RCVLOWAT.
func SetLowWater(fd, bytes int) {
	if bytes > 1 {
		// The kernel enlarges the buffer for a higher SO_RCVLOWAT, and keeps it
		// large. SO_RCVBUF would set less than the default of many systems.
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, room)
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes)
}
