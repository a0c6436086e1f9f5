//go:build unix

package vscodeipc

// SetFallbackParent keeps the tests out of the user's own fallback directory.
func SetFallbackParent(dir string) { fallbackParent = dir }
