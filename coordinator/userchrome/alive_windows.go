package userchrome

// alive would report whether a process runs: on Windows no profile folder names one.
func alive(int) bool { return false }
