package doctor

// Windows protects the user's folders by their access control lists, and pipes have no
// directory.
var directoryChecks []check

// withoutWindow are the arguments with which a program finds no window. All programs of a user
// see the same pipes, so it gets a folder that is in no window.
func withoutWindow(folder string) []string { return []string{"--workspace", folder} }
