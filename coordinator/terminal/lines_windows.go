package terminal

// ignoreBackground has nothing to do: a console has no background.
func ignoreBackground() {}
