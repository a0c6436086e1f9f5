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

// Dialog is an open JavaScript dialog, or the browser's print preview.
type Dialog struct {
	Type    string // alert, confirm, prompt, beforeunload or PrintPreview
	Message string
	Default string // of a prompt
}

// PrintPreview is the type of the browser's preview of a page that it prints, which gets all input.
const PrintPreview = "print"

// EndsPreview is what ends a print preview, for errors and answers.
const EndsPreview = "browser_pdf_save saves the page and ends it; browser_handle_dialog with accept: false, and a " +
	"reload, end it too"

func (d Dialog) String() string {
	if d.Type == PrintPreview {
		return "a print preview"
	}
	return fmt.Sprintf("a JavaScript %s dialog (%q)", d.Type, d.Message)
}

// DialogError reports that an open dialog blocks the page.
type DialogError struct{ Dialog Dialog }

func (e *DialogError) Error() string {
	switch e.Dialog.Type {
	case "beforeunload":
		return "the page asks whether to leave it (a beforeunload dialog): accept leaves it, dismiss stays"
	case PrintPreview:
		return "a print preview is open, and gets all input: " + EndsPreview
	}
	const answer = "accept or dismiss it first, with browser_handle_dialog"
	return fmt.Sprintf("a JavaScript %s dialog is open (%q): %s", e.Dialog.Type, e.Dialog.Message, answer)
}
