package userchrome

import (
	"slices"
	"testing"
)

// Each name of --attach means the folders that its vendor documents, on each system.
func TestProfileFolders(t *testing.T) {
	env := map[string]string{"HOME": "/home/ada", "LOCALAPPDATA": `C:\Users\ada\AppData\Local`}
	const (
		local   = `C:\Users\ada\AppData\Local` + "/"
		library = "/home/ada/Library/Application Support/"
		config  = "/home/ada/.config/"
		flatpak = "/home/ada/.var/app/"
	)
	for name, want := range map[string]map[string][]string{
		"chrome": {"windows": {local + "Google/Chrome/User Data"}, "darwin": {library + "Google/Chrome"},
			"linux": {config + "google-chrome", flatpak + "com.google.Chrome/config/google-chrome"}},
		"chrome-beta": {"windows": {local + "Google/Chrome Beta/User Data"}, "darwin": {library + "Google/Chrome Beta"},
			"linux": {config + "google-chrome-beta"}},
		"chrome-canary": {"windows": {local + "Google/Chrome SxS/User Data"}, "darwin": {library + "Google/Chrome Canary"},
			"linux": {config + "google-chrome-canary", config + "google-chrome-unstable"}},
		"chromium": {"windows": {local + "Chromium/User Data"}, "darwin": {library + "Chromium"},
			"linux": {config + "chromium", "/home/ada/snap/chromium/common/chromium",
				flatpak + "org.chromium.Chromium/config/chromium"}},
		"edge": {"windows": {local + "Microsoft/Edge/User Data"}, "darwin": {library + "Microsoft Edge"},
			"linux": {config + "microsoft-edge", flatpak + "com.microsoft.Edge/config/microsoft-edge"}},
		"brave": {"windows": {local + "BraveSoftware/Brave-Browser/User Data"},
			"darwin": {library + "BraveSoftware/Brave-Browser"},
			"linux": {config + "BraveSoftware/Brave-Browser",
				"/home/ada/snap/brave/current/.config/BraveSoftware/Brave-Browser",
				flatpak + "com.brave.Browser/config/BraveSoftware/Brave-Browser"}},
	} {
		if !slices.Contains(Names, name) {
			t.Errorf("%s is no name", name)
		}
		for system, folders := range want {
			if got := profileFolders(system, name, func(key string) string { return env[key] }); !slices.Equal(got, folders) {
				t.Errorf("%s on %s: %q", name, system, got)
			}
		}
	}
	env["XDG_CONFIG_HOME"] = "/etc/ada"
	got := profileFolders("linux", "edge", func(key string) string { return env[key] })
	if got[0] != "/etc/ada/microsoft-edge" {
		t.Errorf("with XDG_CONFIG_HOME: %q", got)
	}
	if len(Names) != 6 {
		t.Errorf("the names %v", Names)
	}
}
