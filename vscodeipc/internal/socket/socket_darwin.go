package socket

import "golang.org/x/sys/unix"

// maxSocketPath is what sun_path holds, without its NUL.
const maxSocketPath = 103

// peerUID returns the user at the other end of a socket, as the kernel reports it.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
