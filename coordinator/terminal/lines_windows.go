package terminal

import "os"

// reopen returns the console itself.
func reopen(console *os.File) (*os.File, error) { return console, nil }
