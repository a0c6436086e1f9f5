// Package serving serves the stable CDP address of windows: it feeds an endpoint
// with the window's browser, applies the window's rule to the clients, announces
// them to the window, and launches a browser where one is wanted.
//
// Who owns an address is decided by coordinator/endpoint.
package serving
