// Package browser describes what can stand behind an endpoint of package cdpproxy without
// a DevTools server of its own: a browser in this process. It exchanges whole messages.
package browser

import (
	"context"

	"browser-coordinator/cdpproxy/discovery"
)

// Browser is one browser with any number of clients. Its methods may be called from any
// goroutine.
type Browser interface {
	// Product is the result of Browser.getVersion.
	Product(ctx context.Context) (discovery.Product, error)
	// Targets lists the targets for /json/list, without addresses.
	Targets(ctx context.Context) ([]discovery.Target, error)
	// OpenPage opens a page.
	OpenPage(ctx context.Context, address string) (discovery.Target, error)
	// Act carries out Target.activateTarget or Target.closeTarget.
	Act(ctx context.Context, method, target string) error
	// Open connects a client to the page with that id, or to the browser if that is empty.
	// It may call the client already. ctx is for the call alone.
	Open(ctx context.Context, page string, client Client) (Conn, error)
}

// Client is the connection of one client. Its methods do not block, and may be called from
// any goroutine.
type Client interface {
	// Name is a name of the client for the user.
	Name() string
	// Send sends a message to the client, after those before it. The client keeps the
	// message.
	Send(message []byte)
	// End ends the connection: the client gets what was sent, and a close frame with the
	// code of RFC 6455 and the reason. Code 0: the browser, or the page, has ended.
	End(code uint16, reason string)
}

// Conn is the connection of one client with the browser.
type Conn interface {
	// Send handles the client's next command, as [ParseCommand] and Normalize accept it. The
	// calls are in order, except for what package capture has kept waiting, which another
	// goroutine sends. While it blocks the client is not read. Conn keeps the command.
	// It reports whether the command goes to the browser; if not, the client has its
	// response, or the connection has ended.
	Send(command Message) bool
	// Close ends what the client has set up, and returns when nothing is left of it. It ends
	// a Send that blocks. Send has no effect after it.
	Close()
}

// ErrNoTarget is the error for the id of a target that the browser does not have, in Chromium's words.
var ErrNoTarget = &Error{Code: CodeParams, Message: "No target with given id found"}
