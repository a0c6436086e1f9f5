package trusted

// nobody is the user without rights.
const nobody = 1<<32 - 2

// isUnmapped: macOS has no user namespaces.
func isUnmapped(int) bool { return false }
