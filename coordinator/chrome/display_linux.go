package chrome

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// DisplayFault is why no window can be shown on the display that an environment names;
// empty: one can, or the display is on another machine.
func DisplayFault(env func(string) string) string {
	wayland, x := env("WAYLAND_DISPLAY"), env("DISPLAY")
	if wayland == "" && x == "" {
		return "there is no display"
	}
	if wayland != "" {
		if !filepath.IsAbs(wayland) {
			wayland = filepath.Join(env("XDG_RUNTIME_DIR"), wayland)
		}
		if listens("unix", wayland) {
			return ""
		}
	}
	host, number, _ := strings.Cut(x, ":")
	number, _, _ = strings.Cut(number, ".")
	display, err := strconv.ParseUint(number, 10, 16)
	switch {
	case x == "":
		return "WAYLAND_DISPLAY is " + env("WAYLAND_DISPLAY") + ", where no display is"
	case err != nil:
		return "DISPLAY is " + x + ", which is no display; it has the form :0"
	case host == "" || host == "unix":
		socket := fmt.Sprintf("/tmp/.X11-unix/X%d", display)
		if listens("unix", socket) || listens("unix", "@"+socket) {
			return ""
		}
	case host == "localhost" || host == "127.0.0.1": // as ssh -X makes it
		if listens("tcp", fmt.Sprintf("127.0.0.1:%d", 6000+display)) {
			return ""
		}
	default:
		return ""
	}
	return "DISPLAY is " + x + ", where no display is"
}

// listens reports whether a program accepts connections at an address.
func listens(network, address string) bool {
	conn, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
