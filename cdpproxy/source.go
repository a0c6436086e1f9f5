package cdpproxy

import (
	"fmt"
	"path"

	"browser-coordinator/cdpproxy/browser"
)

// Browser is one running browser: at a URL on loopback, or in this process.
type Browser struct {
	// Generation differs for every browser that the source has ever named: a
	// restarted browser is a new one. Required.
	Generation uint64
	// Name is for the user; it appears in close reasons and in errors.
	Name string
	// Product is its name and version, such as Chrome/156.0.8078.79; empty: not known. Via is
	// how it came to be, such as launched. Both are for the status.
	Product, Via string
	// URL is the browser-level CDP WebSocket URL,
	// ws://127.0.0.1:PORT/devtools/browser/GUID. The part before /devtools/ is a
	// prefix of all paths of the browser.
	URL string
	// InProcess is the browser for this process: then nothing dials URL. Nil: there is none.
	InProcess browser.Browser
}

// Source reports to the proxy which browser its window has now.
type Source interface {
	// Browser returns the current browser, nil if there is none, and a channel that
	// is closed when another one is current. It is called often, from many
	// goroutines, and must not block.
	Browser() (*Browser, <-chan struct{})
}

// id is the GUID in the URL.
func (b *Browser) id() string { return path.Base(b.URL) }

// label is the name of b for the user.
func (b *Browser) label() string {
	if b.Name == "" {
		return fmt.Sprintf("browser #%d", b.Generation)
	}
	return fmt.Sprintf("browser %q", b.Name)
}
