// Package userchrome connects to the Chrome that its user works in every day, with its tabs
// and logins.
//
// The user switches remote debugging on at chrome://inspect/#remote-debugging. Chrome then
// asks the user at every connection whether to allow it. So all programs of the user share
// one connection: the process that connects first owns it, and serves it to the others by a
// socket of the user (share.go). It is a source for package coordinator/launch.
//
// Nothing here connects again by itself, since that would ask the user again.
package userchrome
