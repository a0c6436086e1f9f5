// Package vscodeipc speaks to one window. It knows the window's address, and dials,
// serves and probes it in the window protocol of specs/window-protocol.
//
//	workspace, err := vscodeipc.Canonical(".")
//	// handle err
//	for _, a := range vscodeipc.Find(vscodeipc.Hash(workspace)) {
//		c, err := vscodeipc.Dial(ctx, a, nil)
//		if err != nil {
//			continue // Probe reports why
//		}
//		defer c.Close()
//		fmt.Println(c.Hello().State.Browser)
//	}
//
// A client that must survive its window's reloads uses [Watch]. A program that wants to
// be a window uses [Serve].
//
// The package does not select one of several windows. It does not connect to the browser
// behind an endpoint. It does not protect one process of a user from another process of
// the same user.
package vscodeipc
