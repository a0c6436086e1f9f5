// Package provider opens browsers that run elsewhere: the browser at a CDP address that
// the user names, and sessions of a Selenium Grid. Both are a source for package
// coordinator/launch.
//
// All clients of a browser share one WebSocket to its provider, for which the package
// serves a CDP address on this machine ([browser-coordinator/cdpproxy/multiplex]). So the
// rest of the program knows only loopback addresses, and credentials, TLS and the
// provider's errors are handled here alone. A provider that starts a browser for each
// connection starts one.
package provider
