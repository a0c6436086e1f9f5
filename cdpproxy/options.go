package cdpproxy

import (
	"log/slog"
	"time"
)

const (
	// DefaultHold is how long a client waits for a browser.
	DefaultHold = 30 * time.Second
	// NoHold responds at once when there is no browser.
	NoHold time.Duration = -1
)

// Options configure a Proxy. On Linux only Rule is required.
type Options struct {
	// Token is the secret that admits a client: as the first segment of the
	// path (http://127.0.0.1:PORT/TOKEN/) or as "Authorization: Bearer TOKEN".
	// Empty: no client is admitted by token.
	Token string
	// RequireToken refuses clients without the token even where the system can
	// prove that they belong to the same user. Where it cannot (all systems but
	// Linux) the token is always required.
	RequireToken bool
	// AllowOrigins are the admitted values of Origin, besides DevToolsOrigin. Nil:
	// no other. Web pages send an Origin, CDP clients do not.
	AllowOrigins []string
	// HoldTimeout is how long a client waits for a browser. Zero: DefaultHold.
	// NoHold: not at all.
	HoldTimeout time.Duration
	// Demand is called for each client that finds no browser, also when the client
	// is not held. It returns a channel that is closed when no browser will come:
	// then the client gets its response at once. It must not block. Nil: no calls.
	Demand func() (failed <-chan struct{})
	// NoBrowserHelp is called when there is no browser. It returns a text for the
	// client: why a launched browser failed, and what the user should start. It must not
	// block. Nil: nothing.
	NoBrowserHelp func() string
	// Details is called for each status. It must not block. Nil: there is nothing to add.
	Details func() Details
	// Rule judges the messages of clients. Required.
	Rule Rule
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
	if out.NoBrowserHelp == nil {
		out.NoBrowserHelp = func() string { return "" }
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}
