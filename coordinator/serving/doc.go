// Package serving serves the stable CDP address of windows: it feeds an endpoint with the
// window's browser, applies the window's policy to the clients, announces them to the
// window, and launches a browser on demand.
//
// Package coordinator/endpoint decides which process owns an address.
package serving
