package usersocket

import "golang.org/x/sys/unix"

// MaxPath is what sun_path holds, without its NUL.
const MaxPath = 103

// shortened calls use with path: macOS has no shorter one for the same file.
func shortened(path string, use func(short string) error) error { return use(path) }

// peerUID returns the user at the other end of a socket, as the kernel reports it.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// serverPID is the process that listens at the other end of a socket.
func serverPID(fd int) (int, error) {
	return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
}
