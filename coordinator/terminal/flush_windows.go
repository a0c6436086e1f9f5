package terminal

import "golang.org/x/sys/windows"

// flush drops what was typed and not read yet.
func flush(console uintptr) error { return windows.FlushConsoleInputBuffer(windows.Handle(console)) }
