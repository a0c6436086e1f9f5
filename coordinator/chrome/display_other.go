//go:build !linux

package chrome

// DisplayFault is why no window can be shown. macOS and Windows always have a display for a user at
// the machine.
func DisplayFault(func(string) string) string { return "" }
