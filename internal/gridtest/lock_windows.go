package gridtest

// lock does nothing: no task installs a grid on Windows.
func lock(string) (release func() error, err error) { return func() error { return nil }, nil }
