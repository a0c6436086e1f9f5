// Package access applies a window's policy to the clients of its cdpproxy endpoint. A
// [Rule] lets their commands through, refuses them, or holds them until the user has
// answered, and ends the connections of clients that the user stops.
package access
