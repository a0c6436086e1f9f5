// Package terminal writes for people: tables, colours, and text from other programs
// of which a terminal obeys nothing.
package terminal
