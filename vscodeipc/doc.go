// Package vscodeipc speaks to one window: it knows the window's address, dials
// it, serves it and probes it, in the window protocol of specs/window-protocol.
//
//	workspace, err := vscodeipc.Canonical(".")
//	// handle err
//	for _, a := range vscodeipc.Find(vscodeipc.Hash(workspace)) {
//		c, err := vscodeipc.Dial(ctx, a, nil)
//		if err != nil {
//			continue // Probe says why
//		}
//		defer c.Close()
//		fmt.Println(c.Hello().State.Browser)
//	}
//
// A client that has to outlive its window's reloads uses [Watch]; a program
// that wants to be a window uses [Serve].
//
// What it does not promise: it does not decide which of several windows is
// meant, it does not look into the browser behind an endpoint, and it does not
// protect one process of a user from another process of the same user.
package vscodeipc
