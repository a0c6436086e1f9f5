package cdpproxy

import "fmt"

// Browser is one running browser that speaks CDP on loopback.
type Browser struct {
	// Generation differs for every browser that the source has ever named: a
	// restarted browser is a new one. Required.
	Generation uint64
	// Name is for the user; it appears in close reasons and in errors.
	Name string
	// URL is the browser-level CDP WebSocket URL,
	// ws://127.0.0.1:PORT/devtools/browser/GUID. The part before /devtools/ is a
	// prefix of all paths of the browser. Required.
	URL string
}

// Source reports to the proxy which browser its window has now.
type Source interface {
	// Browser returns the current browser, nil if there is none, and a channel that
	// is closed when another one is current. It is called often, from many
	// goroutines, and must not block.
	Browser() (*Browser, <-chan struct{})
}

// label is the name of b for the user.
func (b *Browser) label() string {
	if b.Name == "" {
		return fmt.Sprintf("browser #%d", b.Generation)
	}
	return fmt.Sprintf("browser %q", b.Name)
}
