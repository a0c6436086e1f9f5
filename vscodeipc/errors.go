package vscodeipc

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The codes of spec 6.
const (
	codeMalformed          = "malformed"
	codeTooLarge           = "too_large"
	codeUnsupportedVersion = "unsupported_version"
	codeUnknownType        = "unknown_type"
	CodeBadPayload         = "bad_payload"
	codeUnknownEvent       = "unknown_event"
	CodeUnknownCommand     = "unknown_command"
	codeDuplicateID        = "duplicate_id"
	codeTooMany            = "too_many"
	codeCancelled          = "cancelled"
	codeDeadline           = "deadline"
	CodeRefused            = "refused"
	codeInternal           = "internal"
)

// Error is a window's response to a request that it could not fulfil. A [Handler]
// returns one to choose the code that the client sees.
type Error struct {
	Code    string          `json:"code" min:"1"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("window answers %s: %s", e.Code, e.Message) }

// byeError is the reason that a window sent when it ended the connection (spec 7).
type byeError struct{ Reason, Message string }

func (e *byeError) Error() string {
	return fmt.Sprintf("window ended the connection (%s): %s", e.Reason, e.Message)
}

var (
	// errIncompatible is wrapped by errors about a peer that does not speak this version of
	// the window protocol.
	errIncompatible = errors.New("incompatible peer")
	// errClosed is wrapped by errors of a client, watcher or server that its own program
	// closed.
	errClosed = errors.New("closed")
)

// errorf makes an Error with data; data must be encodable or nil.
func errorf(code string, data any, format string, args ...any) *Error {
	e := &Error{Code: code, Message: fmt.Sprintf(format, args...)}
	if data != nil {
		e.Data, _ = json.Marshal(data) // only maps of strings and numbers
	}
	return e
}
