// Package endpoint decides who serves a window's CDP endpoint, and at which
// address. The address follows from the window's hash, so a configuration can
// hold it for good; any number of coordinators may offer it, one serves it,
// and another takes over when that one goes.
//
//	e, err := endpoint.Serve(ctx, hash, source, nil)
//	if err != nil {
//		return err
//	}
//	defer e.Close(ctx)
//	fmt.Println(e.URL()) // http://127.0.0.1:PORT, whoever serves it
//
// What it keeps lies in browser-coordinator-mcp/ below the user's state
// directory: the port that was chosen, the token, and a lock. The lock is the
// ownership: the kernel drops it with its process, so nothing that a crash
// leaves behind can be false.
//
// It does not promise that the address never changes: when another program has
// taken the port, the next one of the window's own sequence is used and
// remembered. It does not find browsers; that is the Source's business.
package endpoint
