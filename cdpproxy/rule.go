package cdpproxy

import (
	"context"
	"encoding/json"
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
	// Joined reports an admitted connection before any of its messages is judged. end
	// closes it (1008) with a reason; it may be called at any time, and more than once.
	// Joined must not block.
	Joined(c *Client, end func(reason string))
	// Judge is called with the messages of one client in their order, and for
	// different clients at the same time. It must not block. m is valid until it returns.
	Judge(m *Message) Decision
	// Left is the last call for a connection. It must not block.
	Left(c *Client)
}

// Message is a CDP command. A mutating discovery request becomes the command with
// the same effect, without an ID: Target.createTarget, Target.activateTarget or
// Target.closeTarget.
type Message struct {
	Client  *Client
	ID      json.RawMessage
	Session string // sessionId, empty for the connection's own target
	Method  string
	Params  json.RawMessage // nil if there are none
}

// Decision is the decision on a message. The zero Decision allows it.
type Decision struct {
	Action Action
	// Reason is the text of the CDP error for Deny, and that of the close frame
	// for Disconnect.
	Reason string
	// Result is the client's result for Ignore; nil: the empty object.
	Result json.RawMessage
}

// Action is the kind of a Decision.
type Action int

const (
	// Allow: the message goes to the browser.
	Allow Action = iota
	// Deny: the client gets a CDP error; the browser gets nothing.
	Deny
	// Ignore: the client gets Result as if the command had succeeded; the browser
	// gets nothing.
	Ignore
	// Disconnect: the client gets a success response, and its connection is closed. For
	// Browser.close, which would end the browser for everyone.
	Disconnect
)

// refusedCode is JSON-RPC's code for a server's own errors. Chromium uses it for
// what a target does not allow.
const refusedCode = -32000

// errorReply is the CDP response to a refused command.
func errorReply(m *Message, code int, text string) []byte {
	type cdpError struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	return reply(m, struct {
		ID      json.RawMessage `json:"id,omitempty"`
		Error   cdpError        `json:"error"`
		Session string          `json:"sessionId,omitempty"`
	}{m.ID, cdpError{code, text}, m.Session})
}

// doneReply is the CDP response to a command that was not forwarded; nil is the
// result of those that have none.
func doneReply(m *Message, result json.RawMessage) []byte {
	if result == nil {
		result = json.RawMessage("{}")
	}
	return reply(m, struct {
		ID      json.RawMessage `json:"id,omitempty"`
		Result  json.RawMessage `json:"result"`
		Session string          `json:"sessionId,omitempty"`
	}{m.ID, result, m.Session})
}

func reply(m *Message, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		// Only an ID that is not JSON could cause this, and decode checked it.
		m.ID = nil
		return errorReply(m, refusedCode, "unreadable id")
	}
	return b
}
