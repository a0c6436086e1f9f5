package vscodeipc

// The commands that a window may offer (spec, commands.md). The hello lists those that
// the window offers. [Watcher.Call] runs them with the argument and result types below.
const (
	CommandClientAnnounce   = "client.announce"
	CommandClientReport     = "client.report"
	CommandClientList       = "client.list"
	CommandPermissionAsk    = "permission.ask"
	CommandPermissionList   = "permission.list"
	CommandPermissionAnswer = "permission.answer"
	CommandAccessChange     = "access.change"
	CommandNoteGive         = "note.give"
	CommandNoteTake         = "note.take"
	CommandTestGive         = "test.give"
	CommandPickStart        = "pick.start"
	CommandRecordShow       = "record.show"
	CommandTabRequest       = "tab.request"
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

// ActRecordUser is the act of permission.ask for recording what the user does. The user is asked in
// every mode.
const ActRecordUser = "browser_record_user"

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
	// Running are the calls that have run for a while, the oldest first.
	Running []RunningCall `json:"running,omitempty"`
}

// RunningCall is a call of a client that has not ended. Its members are those of an [Activity].
type RunningCall struct {
	Time   int64  `json:"time"`
	Act    string `json:"act"`
	Target string `json:"target"`
	Script string `json:"script,omitempty"`
}

// AnnounceArg lists all clients that use the window's browser through this
// connection. It replaces what the connection announced before, and ends with it.
type AnnounceArg struct {
	Clients []ConnectedClient `json:"clients"`
	// Serving means that this connection's client serves the window's stable endpoint.
	Serving bool `json:"serving,omitempty"`
}

// AnnounceResult is what a window wants to know of its clients.
type AnnounceResult struct {
	Pictures bool `json:"pictures,omitempty"` // it shows pictures of their actions
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
	// Details are for the window's user alone; nil: unknown.
	Details *ActivityDetails `json:"details,omitempty"`
}

// ActivityDetails is why an action was allowed, and what followed it.
type ActivityDetails struct {
	Duration int64 `json:"duration"` // in milliseconds, without the wait for the user's answer
	// Reason is why it was allowed: "human", "grant", "mode" or "reads" today; empty: it was not. Covers
	// is what the grant covers: a category of actions, or "*".
	Reason  string           `json:"reason,omitempty"`
	Covers  string           `json:"covers,omitempty"`
	Script  string           `json:"script,omitempty"` // that it has run
	Effects []ActivityEffect `json:"effects,omitempty"`
	Picture []byte           `json:"picture,omitempty"` // of the page after it: a small JPEG
}

// ActivityEffect is a failed request, or a message of the console. Kind is "request", "error" or "warning".
type ActivityEffect struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Place string `json:"place,omitempty"` // that made it, as file:line:column; a URL outside of the workspace
	Late  bool   `json:"late,omitempty"`  // it followed the action before this one
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
	// Origin is that of the page, if the action is on this site alone.
	Origin string `json:"origin,omitempty"`
	// Nodes are the elements that it acts on, where they are known, for a view of the page to mark.
	Nodes []AnnotatedNode `json:"nodes,omitempty"`
}

// AskResult is the user's decision: Decision is "allow", "refuse" or, for a client that
// connects, "view". Reason is "human", "mode", of a refusal also "timeout" or "stopped", otherwise
// also "grant", which covers a category of actions, or "*".
type AskResult struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
	Covers   string `json:"covers,omitempty"`
}

// QuestionsResult are the questions that the user can answer now.
type QuestionsResult struct {
	Questions []PendingQuestion `json:"questions"`
}

// PendingQuestion is what the user is asked: a client, and what it waits for, the oldest first.
type PendingQuestion struct {
	ID      string          `json:"id"`
	Client  ClientInfo      `json:"client"`
	Actions []PendingAction `json:"actions"`
	Choices []string        `json:"choices"`
}

// PendingAction is an action that waits. Number increases with each one.
type PendingAction struct {
	Number int    `json:"number"`
	Action AskArg `json:"action"`
}

// The answers to a question; each offers some of them.
const (
	ChoiceOnce     = "once"
	ChoiceCategory = "category" // this kind of action on the site, for the client's session
	ChoiceSession  = "session"  // everything on the site, for the client's session
	ChoiceConnect  = "connect"  // of a CDP client
	ChoiceView     = "view"     // it may connect, but only look
	ChoiceRefuse   = "refuse"
)

// AnswerArg is the user's answer to a question, for its actions up to the number Last.
type AnswerArg struct {
	Question string `json:"question"`
	Choice   string `json:"choice"`
	Last     int    `json:"last"`
	Tab      string `json:"tab,omitempty"` // that the user has chosen for a tab.request
}

// AccessChangeArg changes what the window's user allows. Stop and Resume name a client.
type AccessChangeArg struct {
	Mode   AccessMode `json:"mode,omitempty"`
	Stop   string     `json:"stop,omitempty"`
	Resume string     `json:"resume,omitempty"`
	// TakenOver: the user takes over the browser, or gives it back; nil: neither.
	TakenOver *bool `json:"takenOver,omitempty"`
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

// RecordShowArg shows that what the user does in a page is being recorded, which the user has agreed
// to. The client cancels the call at the end.
type RecordShowArg struct {
	Client  ClientInfo `json:"client"`
	Message string     `json:"message"`
	Seconds float64    `json:"seconds"` // how long the recording lasts at most
}

// RecordShowResult is why it ends: Outcome is "ended" (by the user) or "timeout".
type RecordShowResult struct {
	Outcome string `json:"outcome"`
}

// TabRequestArg asks the user to hand over one of the tabs in the user's own browser.
type TabRequestArg struct {
	Client ClientInfo `json:"client"`
	URL    string     `json:"url,omitempty"` // of the page that the client would like
}

// TabRequestResult is what the user has decided: Outcome is "handed-over", "refused" or
// "timeout".
type TabRequestResult struct {
	Outcome string `json:"outcome"`
	Tab     string `json:"tab,omitempty"` // the target id
}

// TestGiveArg gives the user the test of what a client has done ([State.Tests]), or why there is none.
type TestGiveArg struct {
	Client  ClientInfo `json:"client"`
	Code    string     `json:"code,omitempty"`
	Problem string     `json:"problem,omitempty"`
}

// NoteGiveArg is what the user writes to a client elsewhere than in the window.
type NoteGiveArg struct {
	Recipient string `json:"recipient"` // the id of a connected MCP host
	Note      Note   `json:"note"`
}

// NoteTakeArg takes what the user has written to a client ([State.Notes]).
type NoteTakeArg struct {
	Client ClientInfo `json:"client"`
}

// NoteTakeResult is the oldest note; nil: there is none.
type NoteTakeResult struct {
	Note *Note `json:"note,omitempty"`
}

// Note is what the user has written about places in pages.
type Note struct {
	Text        string       `json:"text"` // may be empty
	Annotations []Annotation `json:"annotations"`
}

// Annotation is an element that the user has picked, or an area that the user has drawn.
type Annotation struct {
	// Element is its role, its name and a short selector, as the page has them; empty: no element
	// covers most of the area.
	Element string   `json:"element"`
	Text    string   `json:"text"` // what the user has written about it; may be empty
	Page    PageName `json:"page"`
	// Node is the element for CDP clients; nil: there is none.
	Node *AnnotatedNode `json:"node,omitempty"`
	// Picture is the area as the user saw it: a PNG or a JPEG.
	Picture []byte `json:"picture,omitempty"`
}

// AnnotatedNode is an element by its CDP ids, which count while the page shows that document.
type AnnotatedNode struct {
	Target   string `json:"target"`
	Document string `json:"document"` // the loader id
	ID       int64  `json:"id"`       // the backend node id
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
	Displayed bool          `json:"shown"`
	Answer    *ReviewAnswer `json:"answer,omitempty"`
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
