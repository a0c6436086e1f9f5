// Package cdp maintains one persistent Chrome DevTools Protocol connection to a browser-level
// endpoint and the flat sessions that run over it.
//
// [Conn] and [Session] implement the Session interface of github.com/chromedp/cdproto/cdp,
// so every generated command runs on either.
//
// A call ends when its context ends (and only the call: the connection stays), when its
// session or target goes away ([ErrSessionGone], [ErrTargetCrashed]) or when the
// connection ends ([ErrClosed]). Each subscription to events has a bounded queue. A
// subscription that is not read in time ends with [ErrOverflow] and does not delay the
// others.
//
// The package does not know what a page is. It never reconnects: a browser that restarts
// may have another address. It does not guarantee that a command whose call was cancelled
// has not run.
package cdp
