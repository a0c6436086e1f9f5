package chrome

import (
	"os"
	"path/filepath"
)

func candidates() []candidate {
	apps := []struct{ browser, file string }{
		{"chrome", `Google\Chrome\Application\chrome.exe`},
		{"chromium", `Chromium\Application\chrome.exe`},
		{"msedge", `Microsoft\Edge\Application\msedge.exe`},
		{"brave", `BraveSoftware\Brave-Browser\Application\brave.exe`},
	}
	var all []candidate
	for _, app := range apps {
		for _, root := range []string{"ProgramFiles", "ProgramFiles(x86)", "LOCALAPPDATA"} {
			if dir := os.Getenv(root); dir != "" {
				all = append(all, candidate{app.browser, filepath.Join(dir, app.file)})
			}
		}
	}
	return all
}

func advice() string {
	return "install one with: winget install Google.Chrome"
}
