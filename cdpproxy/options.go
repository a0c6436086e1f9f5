package cdpproxy

import (
	"log/slog"
	"net/http"
	"time"
)

const (
	// DefaultHold is how long a client waits for a browser to come.
	DefaultHold = 30 * time.Second
	// NoHold answers at once when there is no browser.
	NoHold time.Duration = -1

	// DefaultMaxBuffered is the bound at which Chromium would begin to drop
	// messages for a slow reader; the proxy closes instead.
	DefaultMaxBuffered = 256 << 20
)

// Options configure a Proxy. The zero value is usable on Linux.
type Options struct {
	// Token is the secret that admits a client: as the first segment of the
	// path (http://127.0.0.1:PORT/TOKEN/) or as "Authorization: Bearer TOKEN".
	// Empty: nobody is admitted by token.
	Token string
	// RequireToken refuses clients without the token even where the system can
	// prove that they belong to the same user. Where it cannot (anything but
	// Linux) the token is always required.
	RequireToken bool
	// AllowOrigins are the values of Origin, besides DevToolsOrigin, that are
	// let in. Nil: no other. Web pages send an Origin, CDP clients do not.
	AllowOrigins []string
	// HoldTimeout is how long a client waits for a browser to come.
	// Zero: DefaultHold. NoHold: not at all.
	HoldTimeout time.Duration
	// Wanted is called for each client that finds no browser, also where it is
	// not held, and returns a channel that is closed when none will come of it:
	// then the client is answered at once. It must not block. Nil: nobody is told.
	Wanted func() (failed <-chan struct{})
	// NoBrowserHelp is added to the answer when there is no browser: what a
	// person should start.
	NoBrowserHelp string
	// NoBrowserWhy is asked then: what came of it when one was started. It must
	// not block. Nil or empty: there is nothing to say.
	NoBrowserWhy func() string
	// MaxBuffered bounds the bytes kept for one client that reads more slowly
	// than its browser writes. Zero: DefaultMaxBuffered.
	MaxBuffered int
	// Rule judges what clients say. Nil: all passes, unread.
	Rule Rule
	// Watcher is told who is connected. Nil: nobody is.
	Watcher ClientWatcher
	// Handlers are paths of the embedding program, such as "/standby/".
	// Host and Origin are checked for them; further admission is theirs.
	Handlers map[string]http.Handler
	// Logger: nil discards.
	Logger *slog.Logger
}

// DevToolsOrigin is the origin of the DevTools front end that is built into
// Chromium. No web page can have it.
const DevToolsOrigin = "devtools://devtools"

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.HoldTimeout == 0 {
		out.HoldTimeout = DefaultHold
	}
	if out.MaxBuffered == 0 {
		out.MaxBuffered = DefaultMaxBuffered
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}
