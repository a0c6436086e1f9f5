package doctor

// Windows protects the user's folders by their access control lists, and pipes have no
// directory.
var directoryChecks []check
