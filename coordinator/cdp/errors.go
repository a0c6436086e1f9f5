package cdp

import (
	"errors"
	"fmt"
)

// Why a call or a subscription ended early. They are wrapped together with the
// method concerned; use errors.Is.
var (
	// ErrClosed reports that the connection has ended: we closed it, or the browser has
	// ended. Conn.Err returns which.
	ErrClosed = errors.New("the connection to the browser has ended")
	// ErrSessionGone reports that the session was detached: its tab or frame was
	// closed, or moved to another process.
	ErrSessionGone = errors.New("the browser session has ended (its tab or frame is gone)")
	// ErrTargetCrashed reports that the renderer of the session's target crashed
	// while the call was under way.
	ErrTargetCrashed = errors.New("the page crashed")
	// ErrTimeout reports that a call had no deadline of its own and the browser
	// did not answer within Options.CallTimeout.
	ErrTimeout = errors.New("the browser did not answer in time")
	// ErrOverflow reports that a subscription was ended because its owner did not
	// read its events fast enough. What follows from them is no longer known.
	ErrOverflow = errors.New("the event queue overflowed")
)

// Error is the browser's error response to a command.
type Error struct {
	Method  string
	Code    int64  // JSON-RPC code, for example -32000
	Message string // the browser's text
	Data    string // more of it, often empty
}

func (e *Error) Error() string {
	if e.Data == "" {
		return fmt.Sprintf("%s: %s (%d)", e.Method, e.Message, e.Code)
	}
	return fmt.Sprintf("%s: %s: %s (%d)", e.Method, e.Message, e.Data, e.Code)
}

// Refused reports whether the browser answered a command with an error of its own.
func Refused(err error) bool {
	var refusal *Error
	return errors.As(err, &refusal)
}

// codeSessionNotFound is Chromium's error code for a session that it does not know.
const codeSessionNotFound = -32001

// Is makes an unknown session the same error as an ended one.
func (e *Error) Is(target error) bool {
	return target == ErrSessionGone && e.Code == codeSessionNotFound
}
