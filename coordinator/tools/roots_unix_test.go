//go:build unix

package tools

import "testing"

// A root of a host is a folder of this machine, or none: never another folder.
func TestRootPath(t *testing.T) {
	for _, c := range []struct{ distribution, uri, want string }{
		{"", "file:///home/ada/shop", "/home/ada/shop"},
		{"", "file://localhost/home/ada/my%20shop", "/home/ada/my shop"},
		{"", "file:///c%3A/Users/ada", ""},
		{"", "file:///C:/Users/ada", ""},
		{"", "file://wsl.localhost/Debian/home/ada", ""},
		{"", "file://server/share/shop", ""},
		{"", "https://example.com/shop", ""},
		{"Debian", "file:///c%3A/Users/ada", "/mnt/c/Users/ada"},
		{"Debian", "file://wsl.localhost/Debian/home/ada/shop", "/home/ada/shop"},
		{"Debian", "file://wsl%24/debian/home/ada", "/home/ada"},
		{"Debian", "file://wsl.localhost/Ubuntu/home/ada", ""},
		{"Debian", "file://server/share", ""},
	} {
		t.Setenv("WSL_DISTRO_NAME", c.distribution)
		if path, ok := rootPath(c.uri); ok != (c.want != "") || ok && path != c.want {
			t.Errorf("%s in %q: %q, %v", c.uri, c.distribution, path, ok)
		}
	}
}
