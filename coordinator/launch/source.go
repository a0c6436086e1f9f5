package launch

import (
	"context"

	"browser-coordinator/cdpproxy/browser"
)

// Browser is a running browser.
type Browser interface {
	// URL is its CDP address on this machine.
	URL() string
	// InProcess is the browser for clients within this process; nil: they dial the address too.
	InProcess() browser.Browser
	// Downloads is the folder of running downloads; empty: they are not on this machine.
	Downloads() string
	// Proxy describes the proxy through which it opens an address; empty: it uses none, or it is not known.
	Proxy(address string) string
	// Done is closed when it has ended.
	Done() <-chan struct{}
	// Err is how it ended by itself; nil: in good order, or it still runs.
	Err() error
}

// Source opens browsers, one at a time. Open and End are never called at the same time.
type Source interface {
	// Open opens a browser, after the last one has ended. ctx bounds only the wait for it.
	Open(ctx context.Context) (Browser, error)
	// End ends the browser that was opened last, if there is one. It returns in bounded
	// time.
	End() error
	// Waiting is what Open waits for now, if that may take long; else empty.
	Waiting() string
	// Kind is that of its browsers.
	Kind() Kind
	// Provider names who runs the browser, for people. It is empty for the kind Launched.
	Provider() string
}

// Kind is how a browser is opened, as the window protocol has it (a browser's via).
type Kind string

const (
	Launched Kind = "launched" // by this program, on this machine
	Provided Kind = "provided" // by a provider, which runs it
	// Personal: by its user, who works in it every day. To open a connection asks the user, and
	// only what the user allows is done there.
	Personal Kind = "personal"
)
