// Package policy decides what agents and CDP clients may do in a window. No other package
// does: the MCP tools and the endpoint call it and carry out the decision.
//
// The user of a window chooses one of three modes. [ModeFull] allows everything.
// [ModeView] allows only what reads. In [ModeAsk] the user is asked.
//
// An agent calls tools over MCP. In [ModeAsk] its user is asked about each mutating call.
// A tool knows the class of its calls, and [Decide] answers with [Allow]; [Deny], with the
// reason; or [Ask], which means that the user must agree first. An [Enforcer] applies this
// to one window: it knows the mode and which agents the user has allowed or stopped, and
// asks the user.
//
// A client sends CDP commands to the window's endpoint. In [ModeAsk] its user is asked once,
// when it connects. [DecideCommand] decides on a command without the user: a client that
// may act gets all but a short list of commands, one that may only look gets those of
// clientview.txt.
//
// [Origins] limit the addresses that agents may open and read.
//
// The policy prevents mistakes: actions that the user does not want. It is no sandbox: a
// program of the same user can find the browser's own port.
package policy
