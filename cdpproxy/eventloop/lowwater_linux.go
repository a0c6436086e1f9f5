package eventloop

import "golang.org/x/sys/unix"

// room is what the kernel keeps room for once large frames have come.
const room = 4 << 20

// SetLowWater has the kernel call a socket readable when so many bytes are there, or
// its end, or no more would find room: socket(7) SO_RCVLOWAT.
func SetLowWater(fd, bytes int) {
	if bytes > 1 {
		// The kernel makes room for what it is to wait for, and leaves it so. By
		// SO_RCVBUF there would be less than it gives by itself in many systems.
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, room)
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes)
}
