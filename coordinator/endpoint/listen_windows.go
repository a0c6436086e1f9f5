package endpoint

import "golang.org/x/sys/windows"

// ErrAddrInUse is the error of a listener whose port is taken.
const ErrAddrInUse = windows.WSAEADDRINUSE
