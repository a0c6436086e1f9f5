package page

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/lifecycle"
	"browser-coordinator/coordinator/page/remote"
)

// Errors that end or refuse a call. Use errors.Is for these, and errors.As for the
// types below.
var (
	ErrPageClosed  = lifecycle.ErrPageClosed
	ErrCrashed     = lifecycle.ErrCrashed
	ErrBrowserGone = lifecycle.ErrBrowserGone
	// ErrPaused reports that script execution is paused in a debugger.
	ErrPaused = errors.New("the page is paused in the debugger: continue it there first")
	// ErrUnsent reports, together with another error, that neither input nor a script was
	// sent to the page: the call may be retried.
	ErrUnsent = errors.New("nothing was sent to the page")
)

// errLimit reports that a condition was not met in the time that a caller waits for it.
var errLimit = errors.New("the time limit has passed")

// unsentError wraps an error and is ErrUnsent too.
type unsentError struct{ error }

func (e *unsentError) Unwrap() error { return e.error }

func (e *unsentError) Is(target error) bool { return target == ErrUnsent }

// DisconnectedError reports that the connection to a browser has ended, and not because the browser
// has: that runs on, with its pages. It is ErrBrowserGone.
type DisconnectedError struct{ Reason string }

func (e *DisconnectedError) Error() string {
	return "the connection to the browser has ended: " + e.Reason
}

// Is makes errors.Is(err, ErrBrowserGone) true.
func (e *DisconnectedError) Is(target error) bool { return target == ErrBrowserGone }

// ended is why a connection has ended, for the caller of an operation.
func ended(err error) error {
	if errors.Is(err, cdp.ErrOverflow) {
		return &DisconnectedError{"its pages reported more than this program could read in time"}
	}
	if closed, ok := errors.AsType[websocket.CloseError](err); ok && closed.Reason != "" {
		switch closed.Code {
		case websocket.StatusPolicyViolation, websocket.StatusTryAgainLater, websocket.StatusMessageTooBig:
			return &DisconnectedError{closed.Reason}
		}
	}
	return ErrBrowserGone
}

// PausedError reports where script execution is paused; it is ErrPaused.
type PausedError struct{ Location Paused }

func (e *PausedError) Error() string {
	return fmt.Sprintf("the page is paused in the debugger (%s): continue it there first", e.Location)
}

// Is makes errors.Is(err, ErrPaused) true.
func (e *PausedError) Is(target error) bool { return target == ErrPaused }

// Dialog is an open JavaScript dialog, and DialogError reports that it blocks the page.
type (
	Dialog      = lifecycle.Dialog
	DialogError = lifecycle.DialogError
)

// interrupted reports that a dialog opened before an operation, for example "clicking e5", was
// done, which cancelled it; done is what was done before, for example "field 1 of 2 is filled".
func interrupted(d Dialog, operation, done string) error {
	return fmt.Errorf("%s opened while %s: %s. Accept or dismiss it with "+
		"browser_handle_dialog, then try again", d, operation, done)
}

// NavigationError reports that a page could not be reached.
type NavigationError struct {
	URL  string
	Code string // the browser's, for example net::ERR_CONNECTION_REFUSED
	// Proxy describes the proxy of the address, see Options.
	Proxy string
}

func (e *NavigationError) Error() string {
	if address.IsOfProxy(e.Code) {
		proxy := cmp.Or(e.Proxy, "the one of the browser's or the system's settings, or of http_proxy, https_proxy or "+
			"all_proxy where the browser was started")
		return fmt.Sprintf("cannot open %s: %s: %s (%s)", e.URL, address.Hint(e.Code), proxy, e.Code)
	}
	if hint := address.Hint(e.Code); hint != "" {
		return fmt.Sprintf("cannot open %s: %s (%s)", e.URL, hint, e.Code)
	}
	return fmt.Sprintf("cannot open %s: %s", e.URL, e.Code)
}

// ScriptError is an exception that a script given to Evaluate threw.
type ScriptError struct {
	Text  string // for example: TypeError: x is not a function
	Stack string // without Text; may be empty
}

func (e *ScriptError) Error() string { return "the script threw " + e.Text }

// HungError reports that a page does not respond because of an endless script. Pages of
// other sites are not affected.
type HungError struct {
	Operation string // as in TimeoutError
	Elapsed   time.Duration
	Dialog    *Dialog // open in another page, and a possible reason
	DialogURL string  // the URL of that page
	Awaited   string  // a request without a response, for which a script may wait; empty: there is none
}

func (e *HungError) Error() string {
	if e.Dialog != nil {
		return fmt.Sprintf("the tab did not answer for %s (%s): %s is open in another tab, "+
			"%s, and holds up the tabs of its site. Select that tab (browser_tabs) and accept or dismiss "+
			"it", e.Elapsed, e.Operation, e.Dialog, e.DialogURL)
	}
	if e.Awaited != "" {
		return fmt.Sprintf("the tab did not answer for %s (%s): a script of it probably waits for a synchronous "+
			"request, %s, which has no response yet. If the browser asks its user for a name and a password for that, the "+
			"user can enter them there; else open the address with them in it, http://USER:PASSWORD@host/, or navigate "+
			"the tab elsewhere", e.Elapsed, e.Operation, e.Awaited)
	}
	return fmt.Sprintf("the tab hangs: a script of it, or of another tab of its site, is busy, and it did not "+
		"answer for %s (%s). Navigate it, which stops the script, or choose a tab of another site; what hung before "+
		"you came only the developer can end", e.Elapsed, e.Operation)
}

// LeavingError reports that a page does not respond because it waits for the server of its next document.
type LeavingError struct {
	URL       string
	Operation string // as in TimeoutError
	Elapsed   time.Duration
	// Holder may hold the request up, in place of the server; empty: nobody is known to.
	Holder string
	// Proxy describes the proxy of the address, see Options.
	Proxy string
}

func (e *LeavingError) Error() string {
	if e.Holder != "" {
		return fmt.Sprintf("the page has been on its way to %s for %s; until it is there, it does not answer (%s). The "+
			"server may never have been asked: %s. Press Escape (browser_press_key), which stops it, or navigate "+
			"elsewhere", e.URL, e.Elapsed, e.Operation, e.Holder)
	}
	who := "that server has not answered"
	if e.Proxy != "" {
		who = "neither that server nor " + e.Proxy + " has answered"
	}
	return fmt.Sprintf("the page has been on its way to %s for %s, and %s; until then the "+
		"page does not either (%s). Wait, press Escape (browser_press_key), which stops it, or navigate elsewhere",
		e.URL, e.Elapsed, who, e.Operation)
}

// ClosedError reports that a page was closed in the middle of an action; it is not ErrPageClosed.
type ClosedError struct {
	Operation string // as in TimeoutError
	Done      string // until then, for example: 3 of 9 characters are typed
}

func (e *ClosedError) Error() string {
	return fmt.Sprintf("the page, the user or another client of this browser closed the tab while %s: %s",
		e.Operation, e.Done)
}

// TimeoutError reports that the page did not do something in time.
type TimeoutError struct {
	Operation string // for example: waiting for the load event of http://localhost/
	Elapsed   time.Duration
	Hint      string // the possible cause; may be empty

	stopped bool // the script was stopped: the page does not hang
}

func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("timed out after %s %s", e.Elapsed, e.Operation)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Is makes errors.Is(err, lifecycle.ErrEndless) true for a script that was stopped.
func (e *TimeoutError) Is(target error) bool { return e.stopped && target == lifecycle.ErrEndless }

// Paused is where script execution stopped in a debugger.
type Paused struct {
	Function string // empty: anonymous or top level
	Location remote.Position
}

func (p Paused) String() string {
	if p.Function != "" {
		return p.Function + " at " + p.Location.String()
	}
	return p.Location.String()
}
