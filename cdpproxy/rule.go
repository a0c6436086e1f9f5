package cdpproxy

import (
	"encoding/json"
	"strings"
)

// Rule judges clients' messages before the browser gets them. It sees every message
// whole: fragments put together, unmasked, and keys and method decoded, since all of
// these can hide a method from a reader of bytes. See specs/platform-notes.md, "The
// relay".
type Rule interface {
	// Judge is called with the messages of one client in their order, and for
	// different clients at the same time. It must not block: what the user
	// decides is answered with Wait. m is good until it returns.
	Judge(m *Message) Verdict
}

// Message is a CDP command. A discovery request that changes something is
// presented as the command that would do the same, without an ID:
// Target.createTarget, Target.activateTarget or Target.closeTarget.
type Message struct {
	Client  *Client
	ID      json.RawMessage
	Session string // sessionId, empty for the connection's own target
	Method  string
	Params  json.RawMessage // nil if there are none

	attached *attached // nil: it is of no connection
}

// Target returns the id of the page, or other target, that the message is for:
// that of its session, or of its connection. Empty: the browser, or not known.
func (m *Message) Target() string {
	if m.Session != "" && m.attached != nil {
		return m.attached.target(m.Session)
	}
	if id, ok := strings.CutPrefix(m.Client.Path, "/devtools/page/"); ok && m.Session == "" {
		return strings.TrimSuffix(id, "/")
	}
	return ""
}

// Verdict is what becomes of a message. The zero Verdict lets it pass.
type Verdict struct {
	Action Action
	// Reason is for Refuse the text of the CDP error, for End that of the
	// close frame.
	Reason string
	// Later brings the final verdict on a message that waits; closed without
	// one, it refuses.
	Later <-chan Verdict
	// Result is for Ignore what the client gets; nil: the empty object.
	Result json.RawMessage
	// Behind keeps the message behind those that still wait.
	Behind bool
}

// Action is the kind of a Verdict.
type Action int

const (
	// Pass: the original bytes go to the browser.
	Pass Action = iota
	// Refuse: the client gets a CDP error; the browser hears nothing.
	Refuse
	// Ignore: the client is answered with Result as if done; the browser hears
	// nothing.
	Ignore
	// End: the client is answered as if done, and its connection closed. For
	// Browser.close, which would end the browser for everyone.
	End
	// Wait: the message is kept until Later says more. The client's other
	// messages go on meanwhile; messages that wait keep their order.
	Wait
)

// refusedCode is JSON-RPC's code for a server's own errors, which Chromium
// uses for what a target does not allow.
const refusedCode = -32000

// errorReply is the CDP answer to a command that is refused.
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

// doneReply is the CDP answer to a command that was not passed on; nil is the
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
		// Only an ID that is not JSON could do this, and decode checked it.
		m.ID = nil
		return errorReply(m, refusedCode, "unreadable id")
	}
	return b
}
