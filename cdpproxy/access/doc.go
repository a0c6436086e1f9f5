// Package access applies a window's policy to the clients of its cdpproxy endpoint. A
// [Rule] admits clients, asks the user about them where that is the window's access mode,
// and allows or denies their commands. It closes the connections of clients that the user
// stops, and those of all clients when the user chooses a stricter mode.
package access
