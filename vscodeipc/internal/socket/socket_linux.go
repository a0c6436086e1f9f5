package socket

import "golang.org/x/sys/unix"

// maxSocketPath is what sun_path holds, without its NUL.
const maxSocketPath = 107

// peerUID returns the user at the other end of a socket, as the kernel reports it.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
