package endpoint

import "golang.org/x/sys/windows"

const errAddrInUse = windows.WSAEADDRINUSE
