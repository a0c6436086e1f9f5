package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// takesSequences has a console interpret escape sequences, which an old one cannot.
func takesSequences(console *os.File) bool {
	handle := windows.Handle(console.Fd())
	var mode uint32
	return windows.GetConsoleMode(handle, &mode) == nil &&
		windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
