//go:build !linux

package doctor

// macOS and Windows have no sandbox that the user can break, and always a display for a
// user at the machine.
var systemBrowserChecks []check
