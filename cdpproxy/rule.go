package cdpproxy

import (
	"context"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/policy"
)

// Rule admits clients, and judges their messages before the browser gets them.
// It sees every message whole: fragments joined, unmasked, and with keys and method
// decoded. All of these can hide a method from a reader of bytes. See
// specs/platform-notes.md, "The relay".
type Rule interface {
	// Join decides whether a client may connect or send a mutating request, before the
	// browser is dialed. It may ask the user, and block until ctx ends. The client gets
	// the text of the error.
	Join(ctx context.Context, c *Client) error
	// Register reports an admitted connection before any of its messages is judged. end
	// closes it (1008) with a reason; it may be called at any time, and more than once.
	// It must not block.
	Register(c *Client, end func(reason string))
	// Judge is called with the commands of one client in their order, and for different
	// clients at the same time. It must not block. m is valid until it returns. A mutating
	// discovery request becomes the command with the same effect, without an ID:
	// Target.createTarget, Target.activateTarget or Target.closeTarget.
	Judge(c *Client, m *browser.Message) Decision
	// Observe is called after an allowed command was sent to the browser, which does not wait
	// for what the rule does with it. It must not block.
	Observe(c *Client, m *browser.Message)
	// Unregister is the last call for a connection. It must not block.
	Unregister(c *Client)
}

// Decision is the decision on a command. Only [policy.Allow] lets it go to the browser. The
// client gets a CDP error with the Reason for [policy.Deny], a success with the Result (nil:
// the empty object) for [policy.Ignore], and a success before its connection is closed with
// the Reason for [policy.Disconnect]: for Browser.close, which would end the browser for
// everyone.
type Decision struct {
	Outcome policy.Outcome
	Reason  string
	Result  []byte
}
