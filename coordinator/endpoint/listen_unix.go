//go:build unix

package endpoint

import "syscall"

// ErrAddrInUse is the error of a listener whose port is taken.
const ErrAddrInUse = syscall.EADDRINUSE
