// Package cdpproxy puts one stable, guarded CDP endpoint in front of whichever
// browser a window has now. Browsers come and go, on ports of their own
// choosing; the endpoint's address stays, and any CDP client can hold it.
//
// When a browser ends, its clients get a close frame whose reason names that browser.
// A client that connects while there is none waits for the next one. No client gets
// a response of a browser that the Source does not name at that moment.
//
// A browser has a URL, and its messages are relayed as bytes, or it is in this process
// (package browser). A client's messages are joined and decoded, and forwarded if the
// Rule allows them. The proxy does not start or end browsers. It keeps no state across
// restarts: the program that owns the listener does.
package cdpproxy
