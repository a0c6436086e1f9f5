package page

import "time"

// All time limits of this package that no caller chooses.
const (
	// eventLag is how much later than a script's value the events of responses come that the
	// script has awaited.
	eventLag = 50 * time.Millisecond
	// probeTimeout is for a page to respond to a probe before it counts as hung.
	probeTimeout = 200 * time.Millisecond
	// closeTimeout is for pages when their connection is about to end. Without the connection,
	// nothing can stop their scripts.
	closeTimeout = 200 * time.Millisecond
	// briefTimeout is for what an answer should contain, but does not need: the requests that the
	// action's scripts have made, positions in source files, pages that respond late. A call that
	// takes longer is slow: something may block it.
	briefTimeout = 500 * time.Millisecond
	// respondTimeout is for the browser, for a page that runs no script, and for the events of what
	// has happened: a window that opens, a download that begins.
	respondTimeout = time.Second
	// unloadTimeout is for a page to close, whose unload handlers run, and for a page to respond while
	// a tab of the same host has a dialog open.
	unloadTimeout = 2 * time.Second
	// loadTimeout is for a navigation that an action has started.
	loadTimeout = 3 * time.Second
	// renderTimeout is for a parsed document to load completely.
	renderTimeout = 5 * time.Second
	// longestUse is for the user to rest: one who never does must not block an agent for good.
	longestUse = 10 * time.Second
	// idleTime without a request is what "network idle" means, as in Playwright and Puppeteer.
	idleTime = 500 * time.Millisecond

	defaultActionTimeout   = 5 * time.Second
	defaultNavigateTimeout = 30 * time.Second
	defaultCallTimeout     = 10 * time.Second
	defaultWait            = 30 * time.Second
	defaultPointerRest     = 3 * time.Second
)

// Some limits are shares of a call's timeout.

// attachTime is for the page's response while attaching; the rest is for the calls that wait for that.
func (o *Options) attachTime() time.Duration { return o.CallTimeout / 5 }

// compareTime is for a comparison of the page with what the agent has seen: an answer waits no longer.
func (o *Options) compareTime() time.Duration { return o.CallTimeout / 10 }

// busyTime is for a page to respond to a trivial evaluation near the end of a script's time before
// the script is stopped. The page's own tasks take less.
func (o *Options) busyTime() time.Duration { return o.CallTimeout * 3 / 20 }

// auditTime is for axe-core in one frame.
func (o *Options) auditTime() time.Duration { return 3 * o.CallTimeout }
