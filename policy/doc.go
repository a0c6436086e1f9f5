// Package policy decides what an actor may do in a window. Nothing else does: the
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
// read-only operations. The mode does not concern a SharedClient, which the endpoint
// has let through already: what it may not do belongs to the debugger.
//
// [Command] and [Tool] classify an operation by the tables methods.txt and tools.txt.
// [Decide] answers with one of three outcomes: [Allow]; [Deny], with the reason and
// what a person can do about it; [Ask], which means that the user has to agree first.
// An [Enforcer] does that for one window: it knows the mode and whom the user has
// allowed or stopped, and puts the questions.
//
//	enforcer := policy.NewEnforcer(user)
//	err := enforcer.Permit(ctx, policy.Question{Actor: me, Operation: policy.Tool("browser_click", arguments)})
//
// [Origins] limit the addresses that agents may open and read.
//
// The policy keeps actors from doing by mistake what the user does not want. It is no
// prison: a program of the same user that looks for the browser's own port finds it.
package policy
