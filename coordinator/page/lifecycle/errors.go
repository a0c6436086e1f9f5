package lifecycle

import (
	"errors"
	"fmt"
)

// Errors that end or refuse a call.
var (
	// ErrPageClosed reports that the page was closed.
	ErrPageClosed = errors.New("the page was closed: list the pages and choose another")
	// ErrCrashed reports that the page's renderer crashed.
	ErrCrashed = errors.New("the page crashed: navigate or reload to revive it")
	// ErrBrowserGone reports that the browser or the connection to it has ended.
	ErrBrowserGone = errors.New("the browser has gone")
	// ErrLeaving reports that the page is navigating to another document.
	ErrLeaving = errors.New("the page is navigating to another document")
	// ErrEndless reports that a script did not end in time and was stopped.
	ErrEndless = errors.New("the script does not end")
)

// Dialog is an open JavaScript dialog.
type Dialog struct {
	Type    string // alert, confirm, prompt or beforeunload
	Message string
	Default string // of a prompt
}

// DialogError reports that an open dialog blocks the page.
type DialogError struct{ Dialog Dialog }

func (e *DialogError) Error() string {
	if e.Dialog.Type == "beforeunload" {
		return "the page asks whether to leave it (a beforeunload dialog): accept leaves it, dismiss stays"
	}
	const answer = "accept or dismiss it first, with browser_handle_dialog"
	return fmt.Sprintf("a JavaScript %s dialog is open (%q): %s", e.Dialog.Type, e.Dialog.Message, answer)
}
