package doctor

// macOS has no table of sockets with their paths for users.
var environmentChecks []check
