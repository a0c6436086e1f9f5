// Package endpoint decides which process serves a window's CDP endpoint, and at which
// address. The address follows from the window's hash, so a configuration can keep it.
// Any number of coordinators may offer it; one serves it, and another takes over when
// that one ends.
//
//	e, err := endpoint.Serve(ctx, hash, source, cdpproxy.Options{})
//	if err != nil {
//		return err
//	}
//	defer e.Close()
//	fmt.Println(e.URL()) // http://127.0.0.1:PORT, for every owner
//
// Its state is in browser-coordinator-mcp/ below the user's state directory: the port
// that was chosen, the token, and a lock. The lock is the ownership: the kernel releases
// it with its process, so a crash leaves no false state.
//
// It does not promise that the address never changes: when another program has taken the
// port, the next one of the window's own sequence is used and remembered. It does not
// find browsers; the Source does.
package endpoint
