package page

import (
	"context"
	"log/slog"
	"time"

	"browser-coordinator/coordinator/claim"
	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/input"
)

// Options of a connection; nil and the zero value are good defaults.
type Options struct {
	Logger          *slog.Logger        // nil discards
	ActionTimeout   time.Duration       // until a target must be ready for an action; 0 means 5 s
	NavigateTimeout time.Duration       // of a navigation until its load event; 0 means 30 s
	CallTimeout     time.Duration       // of any other call; 0 means 10 s
	ConsoleSize     int                 // console messages that are kept per page; 0 means 1000
	NetworkSize     int                 // requests that are kept per page; 0 means 1000
	Viewport        *emulation.Viewport // of every page that is attached to; nil: as it is
	Folders         []string            // of the workspace: places in scripts are reported as places in its files
	Record          bool                // attach to every page when it appears, for its console and network
	Refs            *frame.Refs         // shared by several connections; nil: one of its own
	Indexes         *Indexes            // shared by several connections; nil: one of its own
	Downloads       *Downloads          // how downloads are saved; nil: the browser decides
	User            Presence            // whether input waits for a user of the pages
	PointerRest     time.Duration       // how long the user sees where the last action was; 0 means 3 s

	// TakenOver reports whether the user has taken over the browser, and waits until it is given back; nil:
	// nobody can.
	TakenOver func() (now bool, wait func(context.Context) error)
	// Owns reports whether routes and offline mode apply to a page; nil: to each that [Browser.Page] returns.
	Owns func(page string) bool
	// Proxy describes the proxy through which the browser opens an address; empty: none is known.
	Proxy func(address string) string
	// Owner tells the other agents of this user what is set in the browser; nil: there are none.
	Owner *claim.Owner
}

// Presence is whether a user works in the pages too, by mouse and keyboard.
type Presence int

const (
	NoUser        Presence = iota
	UserIfVisible          // if the browser draws on a screen
	UserPresent
)

// Info describes a page of the browser.
type Info struct {
	ID       string // CDP target id
	Title    string
	URL      string
	OpenerID string // the page that opened it, if one did
	Index    int    // see [Indexes]
}

// Change is what an action changed, as far as it was observed when the action returned.
type Change struct {
	URL         string             // of the main frame now
	Document    int                // that it shows, as frame.Frame.Generation
	Title       string             // only after a navigation
	Navigated   bool               // the main frame shows another document or URL than before
	Loading     string             // URL of a navigation that did not end in time; empty: none
	Dialog      *Dialog            // a dialog is open now; all else fails until it is handled
	Chooser     *input.FileChooser // the page requests files now
	Picker      bool               // the page asked for a file by showOpenFilePicker or its kin, in vain
	Refused     error              // the page's guard refused a navigation
	Paused      *Paused            // a debugger has paused the script; whatever needs the page to run fails
	Tabs        Tabs               // that this page opened
	Download    string             // URL of a download that the action started
	ExternalURL string             // URL that the page asked to open in another program

	Effects
	input.Outcome // of an action of the page's input
}

// Effects are what the page has reported of an action.
type Effects struct {
	Console []history.Message // errors and warnings since the action began
	Failed  []history.Request // requests that have failed since then
	Waiting []history.Request // requests that the action has started, and that have no response yet
	Late    LateEffects
}

// LateEffects is what happened in the page after the result of the previous action, and before this one.
type LateEffects struct {
	Errors []history.Message // the last that were not caught
	Failed []history.Request
	Tabs   Tabs // that this page opened
}

// Tabs are pages that a page has opened: those that are open, and those that have closed since.
type Tabs struct{ Open, Closed []Info }

// WaitResult is what a wait has changed.
type WaitResult struct {
	Change
	Immediate bool // what it was for was so when it began, as far as that can be known
	Passed    bool // the text was shown since the agent's last answer, and is not shown now
}

// Downloads configures how to save files that our own browser downloads.
type Downloads struct {
	// Dir is the directory for downloads in progress. Required.
	Dir string
	// Keep moves a complete download to its final place, under a name like the one from the
	// server, and returns its path. Required.
	Keep func(temporary, name string) (file string, err error)
}

// Download is a download that has ended.
type Download struct {
	URL    string
	Name   string // from the server or the page
	File   string // its path; empty: it failed
	Size   int64  // bytes
	Failed string // the cause of the failure
}
