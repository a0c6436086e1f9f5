// Package access applies a window's policy to the clients of its cdpproxy endpoint.
// A [Rule] allows or denies their commands, or keeps them until the user has
// answered. It closes the connections of clients that the user stops, and those of all
// clients when the user chooses a stricter mode.
package access
