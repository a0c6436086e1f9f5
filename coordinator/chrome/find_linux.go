package chrome

import (
	"os"
	"strings"
)

func candidates() []candidate {
	return []candidate{
		{"chrome", "google-chrome-stable"},
		{"chrome", "google-chrome"},
		{"chrome", "/opt/google/chrome/chrome"},
		{"chromium", "chromium"},
		{"chromium", "chromium-browser"},
		{"chromium", "/usr/lib/chromium/chromium"},
		{"chromium", "/snap/bin/chromium"},
		{"msedge", "microsoft-edge-stable"},
		{"msedge", "microsoft-edge"},
		{"msedge", "/opt/microsoft/msedge/msedge"},
		{"brave", "brave-browser-stable"},
		{"brave", "brave-browser"},
		{"brave", "brave"},
		{"brave", "/opt/brave.com/brave/brave"},
		{"brave", "/snap/bin/brave"},
	}
}

// advice names the install command of the distribution that os-release describes.
func advice() string {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return adviceFor("")
	}
	return adviceFor(string(release))
}

func adviceFor(release string) string {
	ids := map[string]bool{}
	for line := range strings.Lines(release) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key == "ID" || key == "ID_LIKE" {
			for id := range strings.FieldsSeq(strings.Trim(value, `"'`)) {
				ids[id] = true
			}
		}
	}
	switch {
	case ids["ubuntu"]:
		// Ubuntu's chromium package is a snap, whose sandbox hides /tmp profiles.
		return "install Google Chrome from https://www.google.com/chrome/ (Ubuntu's own Chromium: snap install " +
			"chromium)"
	case ids["debian"]:
		return "install one with: apt-get install chromium"
	case ids["fedora"], ids["rhel"]:
		return "install one with: dnf install chromium"
	case ids["arch"]:
		return "install one with: pacman -S chromium"
	case ids["alpine"]:
		return "install one with: apk add chromium"
	case ids["suse"], ids["opensuse"]:
		return "install one with: zypper install chromium"
	}
	return "install Google Chrome from https://www.google.com/chrome/ or your distribution's chromium package"
}
