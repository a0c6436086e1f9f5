// Package policy decides what an actor may do in a window. No other package does: the
// endpoint, the MCP tools and the virtual browser call it and carry out the decision.
//
// There are three actors:
//
//   - an [Agent] calls tools over MCP;
//   - a [Client] sends CDP commands to the window's endpoint;
//   - a [SharedClient] sends CDP commands to a page whose debug session it shares with
//     the debugger.
//
// The user of a window chooses one of three modes. [ModeFull] allows everything,
// [ModeAsk] asks the user before the first mutating operation, [ModeView] allows only
// read-only operations. The mode does not apply to a SharedClient, whose commands have
// passed the endpoint already. It may not run commands that are reserved for the
// debugger.
//
// [Command] classifies a command by the table methods.txt. A tool knows its own class.
// [Decide] answers with one of three outcomes: [Allow]; [Deny], with the
// reason; [Ask], which means that the user must agree first. An
// [Enforcer] applies this to one window: it knows the mode and which actors the user has
// allowed or stopped, and asks the user.
//
//	enforcer := policy.NewEnforcer(user)
//	err := enforcer.Permit(ctx, policy.Question{Actor: me, Operation: policy.Operation{Name: "browser_click", Class: policy.Mutating}})
//
// [Origins] limit the addresses that agents may open and read.
//
// The policy prevents mistakes: actions that the user does not want. It is no sandbox: a
// program of the same user can find the browser's own port.
package policy
