package vscodeipc

import (
	"encoding/json"
	"errors"
	"fmt"

	"browser-coordinator/vscodeipc/internal/socket"
)

// The codes of spec 6.
const (
	CodeMalformed          = "malformed"
	CodeTooLarge           = "too_large"
	CodeUnsupportedVersion = "unsupported_version"
	CodeUnknownType        = "unknown_type"
	CodeBadPayload         = "bad_payload"
	CodeUnknownEvent       = "unknown_event"
	CodeUnknownCommand     = "unknown_command"
	CodeDuplicateID        = "duplicate_id"
	CodeTooMany            = "too_many"
	CodeCancelled          = "cancelled"
	CodeDeadline           = "deadline"
	CodeRefused            = "refused"
	CodeInternal           = "internal"
)

// Error is a window's response to a request that it could not fulfil. A [Handler]
// returns one to choose the code that the client sees.
type Error struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("window answers %s: %s", e.Code, e.Message) }

// ByeError is the reason that a window sent when it ended the connection (spec 7).
type ByeError struct{ Reason, Message string }

func (e *ByeError) Error() string {
	return fmt.Sprintf("window ended the connection (%s): %s", e.Reason, e.Message)
}

var (
	// ErrForeign is wrapped by errors about a directory, socket or peer that is
	// not the user's own, or is not a socket.
	ErrForeign = socket.ErrForeign
	// ErrIncompatible is wrapped by errors about a peer that does not speak a
	// version of the window protocol that this package speaks.
	ErrIncompatible = errors.New("incompatible peer")
	// ErrClosed is wrapped by errors of a client, watcher or server that its own program
	// closed.
	ErrClosed = errors.New("closed")
)

// errorf makes an Error with data; data must be encodable or nil.
func errorf(code string, data any, format string, args ...any) *Error {
	e := &Error{Code: code, Message: fmt.Sprintf(format, args...)}
	if data != nil {
		e.Data, _ = json.Marshal(data) // only maps of strings and numbers
	}
	return e
}
