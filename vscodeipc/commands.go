package vscodeipc

// The commands that a window may offer (spec, commands.md). The hello lists those that
// the window offers. [Watcher.Call] runs them with the argument and result types below.
const (
	CommandClientAnnounce   = "client.announce"
	CommandClientReport     = "client.report"
	CommandClientList       = "client.list"
	CommandPermissionAsk    = "permission.ask"
	CommandNoteTake         = "note.take"
	CommandPickStart        = "pick.start"
	CommandReviewPresent    = "review.present"
	CommandReviewWait       = "review.wait"
	CommandEditorReveal     = "editor.reveal"
	CommandDebugStart       = "debug.start"
	CommandDebugState       = "debug.state"
	CommandDebugBreakpoints = "debug.breakpoints"
	CommandDebugStep        = "debug.step"
	CommandDebugEvaluate    = "debug.evaluate"
	CommandDebugStop        = "debug.stop"
)

// ClientInfo names a client of the window's browser: an MCP host or a CDP client. ID is
// random, unique among all clients of the window.
type ClientInfo struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ConnectedClient is a client that is connected to the browser now. Kind is "mcp" or
// "cdp"; Since is in milliseconds since the epoch.
type ConnectedClient struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Since   int64  `json:"since"`
	Page    string `json:"page,omitempty"` // the target id of the page that it works in
	// Access is the access mode in which a CDP client was admitted. In ask it is ask if the
	// user has allowed the client to act, and view if it may only look.
	Access string `json:"access,omitempty"`
}

// AnnounceArg lists all clients that use the window's browser through this
// connection. It replaces what the connection announced before, and ends with it.
type AnnounceArg struct {
	Clients []ConnectedClient `json:"clients"`
	// Serving means that this connection's client serves the window's stable endpoint.
	Serving bool `json:"serving,omitempty"`
}

// Activity is one action of a client. Time is in milliseconds since the epoch.
type Activity struct {
	Client  string `json:"client"` // its ID
	Time    int64  `json:"time"`
	Act     string `json:"act"`    // a tool's or a CDP method's name
	Target  string `json:"target"` // to display; may be empty
	Outcome string `json:"outcome"`
	OK      bool   `json:"ok"`
	URL     string `json:"url,omitempty"`   // of the page
	Times   int    `json:"times,omitempty"` // how many actions it stands for; 0: one
}

// ReportArg reports clients' actions to a window.
type ReportArg struct {
	Entries []Activity `json:"entries"`
}

// ListResult is who uses a window's browser, and the last action of each client that has
// done something.
type ListResult struct {
	Clients []ConnectedClient `json:"clients"`
	Last    []Activity        `json:"last"`
}

// PageName identifies a page to users.
type PageName struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// AskArg asks the user to decide whether a client may run an action.
type AskArg struct {
	Client ClientInfo `json:"client"`
	Act    string     `json:"act"`
	Detail string     `json:"detail"`          // what the action would do, to display; may be empty
	Claim  string     `json:"claim,omitempty"` // the client's own words for what it acts on
	Page   *PageName  `json:"page,omitempty"`
	// Category is the kind of action, which the user can allow for the client's session.
	Category string `json:"category,omitempty"`
}

// AskResult is the user's decision: Decision is "allow", "refuse" or, for a client that
// connects, "view"; Scope is "once" or "session". Reason, of a refusal, is "human", "timeout",
// "stopped" or "mode" today.
type AskResult struct {
	Decision string `json:"decision"`
	Scope    string `json:"scope"`
	Reason   string `json:"reason,omitempty"`
}

// PickArg asks the user to click an element in the page. The client cancels the call as
// soon as the user has clicked.
type PickArg struct {
	Client  ClientInfo `json:"client"`
	Message string     `json:"message"`
	Seconds float64    `json:"seconds"` // how long the user has
	// Page is the target ID of the page, if it is in the window's browser. The window then
	// lets the user point in its own picture of a browser that nobody sees.
	Page string `json:"page,omitempty"`
}

// PickResult is why the user picked no element: Outcome is "cancelled" or "timeout".
type PickResult struct {
	Outcome string `json:"outcome"`
}

// NoteTakeArg takes what the user has written to a client ([State.Notes]).
type NoteTakeArg struct {
	Client ClientInfo `json:"client"`
}

// NoteTakeResult is that, the oldest first.
type NoteTakeResult struct {
	Notes []Note `json:"notes"`
}

// Note is what the user has written about elements of a page. Each element has its role, its
// name and a short selector, as the page has them.
type Note struct {
	Text     string   `json:"text"` // may be empty
	Page     PageName `json:"page"`
	Elements []string `json:"elements"`
}

// ReviewArg shows Markdown to the user. Mode is "replace", "append" or "update-section".
// Section is the heading of the section to update.
type ReviewArg struct {
	Client   ClientInfo `json:"client"`
	Title    string     `json:"title"`
	Markdown string     `json:"markdown"`
	Mode     string     `json:"mode"`
	Section  string     `json:"section,omitempty"`
}

// ReviewResult confirms that the user can see it. Answer is the user's answer to the text
// before, if no client has got it.
type ReviewResult struct {
	Shown  bool          `json:"shown"`
	Answer *ReviewAnswer `json:"answer,omitempty"`
}

// ReviewWaitArg waits for the user's answer to a review that the window shows.
type ReviewWaitArg struct {
	Client  ClientInfo `json:"client"`
	Title   string     `json:"title"`
	Seconds float64    `json:"seconds"` // how long the user has
}

// ReviewAnswer is the user's answer to a review: Outcome is "approved" or "changes"; or
// there is none, and Outcome is "closed" (the user closed the review) or "timeout".
type ReviewAnswer struct {
	Outcome  string          `json:"outcome"`
	Text     string          `json:"text,omitempty"`
	Comments []ReviewComment `json:"comments,omitempty"`
	Diffs    []ReviewDiff    `json:"diffs,omitempty"`
}

// ReviewDiff is a run of changed lines in a diff of the review, and whether its file has
// them now, saved or not. The lines count in the changed file, where they are now if it is
// applied; where lines are only removed, in the file before.
type ReviewDiff struct {
	File    string `json:"file"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	Applied bool   `json:"applied"`
}

// ReviewComment is the user's comment on a line or a paragraph of a review. Line is the
// place of the quote in the Markdown; File and FileLine are set for a line of a diff.
type ReviewComment struct {
	Text     string `json:"text"`
	Quote    string `json:"quote"`
	Line     int    `json:"line,omitempty"`
	File     string `json:"file,omitempty"`
	FileLine int    `json:"fileLine,omitempty"`
}

// RevealArg shows a place in the editor. Path is absolute, or relative to the
// window's first folder; Line and Column count from 1.
type RevealArg struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// DebugStartArg starts a launch configuration or compound by name, or debugs a URL. With
// neither, the window selects its only browser launch configuration.
type DebugStartArg struct {
	Client        *ClientInfo `json:"client,omitempty"`
	Configuration string      `json:"configuration,omitempty"`
	Folder        string      `json:"folder,omitempty"` // the folder with the launch.json
	URL           string      `json:"url,omitempty"`
}

// DebugStartResult names the session that was started.
type DebugStartResult struct {
	Session string `json:"session"`
	Name    string `json:"name"`
}

// DebugStateArg limits the response to one session, and one of its threads.
type DebugStateArg struct {
	Session string `json:"session,omitempty"`
	Thread  *int   `json:"thread,omitempty"`
}

// DebugStateResult is the state of the window's debugger.
type DebugStateResult struct {
	Sessions []DebugSessionState `json:"sessions"`
}

// DebugSessionState is one debug session. State is "running" or "paused"; the fields
// below it are set only while it is paused.
type DebugSessionState struct {
	ID            string       `json:"id"`
	Name          string       `json:"name"`
	Type          string       `json:"type"`
	Parent        string       `json:"parent,omitempty"`
	Configuration string       `json:"configuration,omitempty"`
	State         string       `json:"state"`
	Reason        string       `json:"reason,omitempty"`      // as DAP names it
	Description   string       `json:"description,omitempty"` // to display
	Thread        *int         `json:"thread,omitempty"`
	Frames        []StackFrame `json:"frames,omitempty"`
	Scopes        []Scope      `json:"scopes,omitempty"` // of the top frame
}

// StackFrame is a place in the program. ID is valid for debug.evaluate while the session
// stays paused. Line and Column count from 1.
type StackFrame struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"`
	URL    string `json:"url,omitempty"` // set if there is no file
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// Scope is a group of variables.
type Scope struct {
	Name      string     `json:"name"`
	Variables []Variable `json:"variables"`
}

// Variable is a name with its value as the debugger prints it.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Type  string `json:"type,omitempty"`
}

// BreakpointsArg lists, sets or removes breakpoints: Action is "list", "set" or
// "remove".
type BreakpointsArg struct {
	Client     *ClientInfo `json:"client,omitempty"`
	Action     string      `json:"action"`
	Path       string      `json:"path,omitempty"`
	Line       int         `json:"line,omitempty"`
	Condition  string      `json:"condition,omitempty"`
	LogMessage string      `json:"logMessage,omitempty"`
}

// BreakpointsResult lists the breakpoints that exist now.
type BreakpointsResult struct {
	Breakpoints []Breakpoint `json:"breakpoints"`
}

// Breakpoint is one breakpoint in a source file.
type Breakpoint struct {
	Path         string `json:"path"`
	Line         int    `json:"line"`
	Column       int    `json:"column,omitempty"`
	Enabled      bool   `json:"enabled"`
	Condition    string `json:"condition,omitempty"`
	LogMessage   string `json:"logMessage,omitempty"`
	HitCondition string `json:"hitCondition,omitempty"`
}

// StepArg moves a paused thread, or pauses a running one: Action is "continue",
// "over", "into", "out" or "pause".
type StepArg struct {
	Action  string `json:"action"`
	Session string `json:"session,omitempty"`
	Thread  *int   `json:"thread,omitempty"`
}

// StepResult is the thread's state after the step: "running", "paused" or
// "ended".
type StepResult struct {
	Session string      `json:"session"`
	Thread  *int        `json:"thread,omitempty"`
	State   string      `json:"state"`
	Reason  string      `json:"reason,omitempty"`
	Frame   *StackFrame `json:"frame,omitempty"`
}

// DebugEvaluateArg evaluates an expression in a frame, or globally.
type DebugEvaluateArg struct {
	Expression string `json:"expression"`
	Frame      *int   `json:"frame,omitempty"`
	Session    string `json:"session,omitempty"`
}

// DebugEvaluateResult is the value as the debugger prints it.
type DebugEvaluateResult struct {
	Result string `json:"result"`
	Type   string `json:"type,omitempty"`
}

// DebugStopArg ends a debug session that the same client started.
type DebugStopArg struct {
	Client  *ClientInfo `json:"client,omitempty"`
	Session string      `json:"session"`
}
