// Package terminal writes for people: tables, colours, and text from other programs that
// cannot control the terminal.
package terminal
