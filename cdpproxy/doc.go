// Package cdpproxy puts one stable, guarded CDP endpoint in front of whichever
// browser a window has now. Browsers come and go, on ports of their own
// choosing; the endpoint's address stays, and any CDP client can hold it.
//
//	proxy := cdpproxy.New(source, &cdpproxy.Options{Token: token})
//	ln, err := net.Listen("tcp", "127.0.0.1:0")
//	if err != nil {
//		return err
//	}
//	go proxy.Serve(ln)
//	defer proxy.Shutdown(ctx)
//
// A client of a browser that ends is told so by a close frame whose reason
// names that browser; a client that comes while there is none is held for the
// next one. Nobody is ever answered by a browser that the Source does not name
// at that moment.
//
// The proxy relays bytes. It does not understand CDP, so it does not promise
// that a client's calls succeed; it does not start or end browsers; and it
// keeps no state across restarts, which is the business of the program that
// owns the listener.
package cdpproxy
