package userchrome

import (
	"cmp"
	"path"
)

// profileFolders are the usual profile folders of a browser on a system (of [runtime.GOOS]), with
// slashes. Linux has them for its package, its snap and its Flatpak.
func profileFolders(system, name string, env func(string) string) (folders []string) {
	switch system {
	case "windows":
		folder := map[string]string{
			"chrome": "Google/Chrome", "chrome-beta": "Google/Chrome Beta", "chrome-canary": "Google/Chrome SxS",
			"chromium": "Chromium", "edge": "Microsoft/Edge", "brave": "BraveSoftware/Brave-Browser",
		}[name]
		return []string{env("LOCALAPPDATA") + "/" + folder + "/User Data"}
	case "darwin":
		folder := map[string]string{
			"chrome": "Google/Chrome", "chrome-beta": "Google/Chrome Beta", "chrome-canary": "Google/Chrome Canary",
			"chromium": "Chromium", "edge": "Microsoft Edge", "brave": "BraveSoftware/Brave-Browser",
		}[name]
		return []string{path.Join(env("HOME"), "Library/Application Support", folder)}
	}
	home := env("HOME")
	config := cmp.Or(env("CHROME_CONFIG_HOME"), env("XDG_CONFIG_HOME"), path.Join(home, ".config"))
	flatpak := func(app, folder string) string { return path.Join(home, ".var/app", app, "config", folder) }
	switch name {
	case "chrome":
		return []string{path.Join(config, "google-chrome"), flatpak("com.google.Chrome", "google-chrome")}
	case "chrome-beta":
		return []string{path.Join(config, "google-chrome-beta")}
	case "chrome-canary":
		return []string{path.Join(config, "google-chrome-canary"), path.Join(config, "google-chrome-unstable")}
	case "chromium":
		return []string{
			path.Join(config, "chromium"), path.Join(home, "snap/chromium/common/chromium"),
			flatpak("org.chromium.Chromium", "chromium"),
		}
	case "edge":
		return []string{path.Join(config, "microsoft-edge"), flatpak("com.microsoft.Edge", "microsoft-edge")}
	default:
		const brave = "BraveSoftware/Brave-Browser"
		return []string{path.Join(config, brave), path.Join(home, "snap/brave/current/.config", brave),
			flatpak("com.brave.Browser", brave)}
	}
}
