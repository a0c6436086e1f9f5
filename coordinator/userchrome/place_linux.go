package userchrome

import (
	"cmp"
	"os"
	"path/filepath"
)

// places are the usual profile folders of a browser: of its package, its snap and its Flatpak.
func places(name string) []string {
	home := os.Getenv("HOME")
	config := cmp.Or(os.Getenv("CHROME_CONFIG_HOME"), os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	flatpak := func(app, folder string) string { return filepath.Join(home, ".var/app", app, "config", folder) }
	switch name {
	case "chrome":
		return []string{filepath.Join(config, "google-chrome"), flatpak("com.google.Chrome", "google-chrome")}
	case "chrome-beta":
		return []string{filepath.Join(config, "google-chrome-beta")}
	case "chrome-canary":
		return []string{filepath.Join(config, "google-chrome-canary"), filepath.Join(config, "google-chrome-unstable")}
	case "chromium":
		return []string{
			filepath.Join(config, "chromium"), filepath.Join(home, "snap/chromium/common/chromium"),
			flatpak("org.chromium.Chromium", "chromium"),
		}
	case "edge":
		return []string{filepath.Join(config, "microsoft-edge"), flatpak("com.microsoft.Edge", "microsoft-edge")}
	default:
		const brave = "BraveSoftware/Brave-Browser"
		return []string{filepath.Join(config, brave), filepath.Join(home, "snap/brave/current/.config", brave),
			flatpak("com.brave.Browser", brave)}
	}
}
