package doctor

import "testing"

func TestDisplay(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/7")
	for _, c := range []struct{ wayland, x11, name, socket string }{
		{"", "", "", ""},
		{"wayland-0", ":0", "WAYLAND_DISPLAY=wayland-0", "/run/user/7/wayland-0"},
		{"/tmp/w", "", "WAYLAND_DISPLAY=/tmp/w", "/tmp/w"},
		{"", ":1.0", "DISPLAY=:1.0", "/tmp/.X11-unix/X1"},
		{"", "localhost:10.0", "DISPLAY=localhost:10.0", ""}, // over SSH
	} {
		t.Setenv("WAYLAND_DISPLAY", c.wayland)
		t.Setenv("DISPLAY", c.x11)
		if name, socket := display(); name != c.name || socket != c.socket {
			t.Errorf("%q, %q: %q, %q", c.wayland, c.x11, name, socket)
		}
	}
}
