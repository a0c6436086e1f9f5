package chrome

import (
	"os"
	"path/filepath"
)

func candidates() []candidate {
	apps := []struct{ browser, name string }{
		{"chrome", "Google Chrome"},
		{"chromium", "Chromium"},
		{"msedge", "Microsoft Edge"},
		{"brave", "Brave Browser"},
	}
	roots := []string{"/Applications"}
	if home := os.Getenv("HOME"); home != "" {
		roots = append(roots, filepath.Join(home, "Applications"))
	}
	var all []candidate
	for _, app := range apps {
		for _, root := range roots {
			all = append(all, candidate{app.browser, filepath.Join(root, app.name+".app", "Contents", "MacOS",
				app.name)})
		}
	}
	return append(all, candidate{"chromium", "chromium"})
}

func advice() string {
	return "install one with: brew install --cask google-chrome"
}
