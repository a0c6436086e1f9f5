// Package cdplog is the form in which CDP traffic is recorded, and a browser made
// of such a recording (specs/cdp-log.md).
//
//	player, err := cdplog.Open(file)
//	err = player.Serve(listener) // until player.Close
package cdplog
