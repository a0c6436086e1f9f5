// Package userchrome connects to the Chrome that its user works in every day, with its tabs
// and logins.
//
// The user switches remote debugging on at chrome://inspect/#remote-debugging. Chrome then
// asks the user at every connection whether to allow it. So all programs of the user share
// one connection: a process of its own has it (owner.go), which the first of them starts and
// which ends with the last, and serves it to them by a socket of the user (share.go). It is a
// source for package coordinator/launch.
//
// Nothing here connects again by itself, since that would ask the user again.
package userchrome
