//go:build unix

package endpoint

import "syscall"

const errAddrInUse = syscall.EADDRINUSE
