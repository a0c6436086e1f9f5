package page

import (
	"embed"
	"sync"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
)

//go:embed script
var functions embed.FS

// library defines the functions of this package in an isolated world. It is built on
// first use: many coordinators never get a call.
var library = sync.OnceValue(func() string {
	return frame.Library(functions, input.Scripts, snapshot.Scripts) + ";\n" + input.WatchUser
})
