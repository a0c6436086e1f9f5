package chrome

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"
)

// TestDisplayFault: a display that is named must accept connections, if it is here.
func TestDisplayFault(t *testing.T) {
	dir := t.TempDir()
	wayland, err := net.Listen("unix", filepath.Join(dir, "wayland-7"))
	if err != nil {
		t.Skip(err) // the path is too long
	}
	defer wayland.Close()
	forwarded, err := net.Listen("tcp", "127.0.0.1:0") // as ssh -X does
	if err != nil {
		t.Fatal(err)
	}
	defer forwarded.Close()
	ssh := fmt.Sprintf("localhost:%d.0", forwarded.Addr().(*net.TCPAddr).Port-6000)
	for _, c := range []struct{ wayland, x, want string }{
		{"wayland-7", "", ""},
		{filepath.Join(dir, "wayland-7"), ":32101", ""},
		{"wayland-8", ssh, ""},
		{"", "far.example:0", ""},
		{"", "", "there is no display"},
		{"wayland-8", "", "WAYLAND_DISPLAY is wayland-8, where no display is"},
		{"wayland-8", ":32101", "DISPLAY is :32101, where no display is"},
		{"", "unix:32101.0", "DISPLAY is unix:32101.0, where no display is"},
		{"", "screen", "DISPLAY is screen, which is no display; it has the form :0"},
	} {
		env := map[string]string{"XDG_RUNTIME_DIR": dir, "WAYLAND_DISPLAY": c.wayland, "DISPLAY": c.x}
		if got := DisplayFault(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
