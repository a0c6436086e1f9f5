package main

import "runtime/debug"

// release is set by the linker in releases.
var release = "0.1.0-dev"

// version is the release with the commit it was built from, if Go knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return release + "+" + s.Value[:12]
		}
	}
	return release
}
