package userchrome

import (
	"os"
	"path/filepath"
)

// places are the usual profile folders of a browser.
func places(name string) []string {
	folder := map[string]string{
		"chrome": `Google\Chrome`, "chrome-beta": `Google\Chrome Beta`, "chrome-canary": `Google\Chrome SxS`,
		"chromium": "Chromium", "edge": `Microsoft\Edge`, "brave": `BraveSoftware\Brave-Browser`,
	}[name]
	return []string{filepath.Join(os.Getenv("LOCALAPPDATA"), folder, "User Data")}
}
