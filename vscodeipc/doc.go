// Package vscodeipc speaks to one window. It knows the window's address, and watches,
// serves and probes it in the window protocol of specs/window-protocol.
//
// A watcher survives its window's reloads. A program that wants to be a window uses
// [Serve].
//
// The package does not select one of several windows. It does not connect to the browser
// behind an endpoint. It does not protect one process of a user from another process of
// the same user.
package vscodeipc
