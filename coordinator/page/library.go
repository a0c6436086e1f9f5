package page

import (
	"embed"
	"sync"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
)

//go:embed script
var scripts embed.FS

// library defines our functions in an isolated world. It is put together at the
// first use: many coordinators wait for their first call for long, and many in vain.
var library = sync.OnceValue(func() string { return frame.Library(scripts, input.Scripts, snapshot.Scripts) })
