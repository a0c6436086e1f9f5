//go:build !linux || noeventloop

package eventloop

// Start returns nil: there is no loop in this build.
func Start() (Loop, error) { return nil, nil }
