package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"browser-coordinator/coordinator/chrome"
)

var systemBrowserChecks = []check{
	{"display", browserGroup, "the display for a browser's window", checkDisplay},
	{"sandbox", browserGroup, "the sandbox of a browser", checkSandbox},
}

func checkDisplay(_ context.Context, x *examination) []Finding {
	name, socket := display()
	switch {
	case name == "":
		return noDisplay(x)
	case socket != "" && !exists(socket):
		return []Finding{unknown("the display is %s, but there is no socket %s. A browser's window may fail to open.", name, socket)}
	}
	return []Finding{ok("The display is %s.", name)}
}

// display is the display by the environment, and the socket that belongs to it; empty: it
// has none of a known name.
func display() (name, socket string) {
	if wayland := os.Getenv("WAYLAND_DISPLAY"); wayland != "" {
		if socket = wayland; !filepath.IsAbs(socket) {
			socket = filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), wayland)
		}
		return "WAYLAND_DISPLAY=" + wayland, socket
	}
	x11 := os.Getenv("DISPLAY")
	if x11 == "" {
		return "", ""
	}
	if m := regexp.MustCompile(`^:([0-9]+)(\.[0-9]+)?$`).FindStringSubmatch(x11); m != nil {
		socket = "/tmp/.X11-unix/X" + m[1]
	}
	return "DISPLAY=" + x11, socket
}

func noDisplay(x *examination) []Finding {
	var found []Finding
	for _, f := range x.files() {
		if !f.Again && slices.Contains(f.Args, "--headed") {
			found = append(found, finding(Problem, "remove --headed from the entry, or start "+f.Name+" where there is a display",
				"The entry in %s has --headed, but there is no display here for the browser's window.", f.Path))
		}
	}
	if len(found) > 0 {
		return found
	}
	return []Finding{ok("There is no display. Private browsers are headless; `coordinator window` needs --headless.")}
}

// userNamespaces are the settings of the kernel that keep a browser's sandbox from
// working, with the values that do so.
var userNamespaces = []struct{ name, bad, good string }{
	{"kernel.unprivileged_userns_clone", "0", "1"},
	{"user.max_user_namespaces", "0", "10000"},
}

func checkSandbox(ctx context.Context, _ *examination) []Finding {
	browser, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return nil // there is no browser to examine
	}
	if os.Geteuid() == 0 {
		return []Finding{finding(Warning, "run the agent as another user than root", "You are root, for whom browsers have no sandbox: a private browser is started with --no-sandbox.")}
	}
	if helper := setuidHelper(browser.Path); helper != "" {
		return []Finding{ok("The browser has the sandbox of %s.", helper)}
	}
	for _, s := range userNamespaces {
		if setting(s.name) == s.bad {
			return []Finding{finding(Problem, fmt.Sprintf("sudo sysctl -w %s=%s", s.name, s.good),
				"The kernel does not allow the user namespaces that a browser's sandbox needs (%s is %s), so a private browser does not start.", s.name, s.bad)}
		}
	}
	if err := tryUserNamespace(ctx); err != nil {
		return []Finding{finding(Problem, "start the container with `--security-opt seccomp=unconfined`, or let the administrator allow user namespaces",
			"This system does not allow the user namespaces that a browser's sandbox needs (%v), so a private browser does not start.", err)}
	}
	if setting("kernel.apparmor_restrict_unprivileged_userns") == "1" {
		return []Finding{unknown("AppArmor limits user namespaces to programs with a profile of their own. An installed package of %s has one; a copied browser does not, and does not start.", filepath.Base(browser.Path))}
	}
	return []Finding{ok("The system allows the user namespaces that a browser's sandbox needs.")}
}

func setting(name string) string {
	text, _ := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
	return strings.TrimSpace(string(text))
}

// setuidHelper is the program that makes the sandbox without user namespaces, if the
// browser has it.
func setuidHelper(browser string) string {
	if resolved, err := filepath.EvalSymlinks(browser); err == nil {
		browser = resolved
	}
	for _, dir := range []string{filepath.Dir(browser), "/usr/lib/chromium", "/opt/google/chrome"} {
		helper := filepath.Join(dir, "chrome-sandbox")
		info, err := os.Stat(helper)
		if err != nil || info.Mode()&os.ModeSetuid == 0 {
			continue
		}
		if st, known := info.Sys().(*syscall.Stat_t); known && st.Uid == 0 {
			return helper
		}
	}
	return ""
}

// tryUserNamespace starts this program in a user namespace of its own, as a browser does
// with its pages' processes. Only that shows what a container allows.
func tryUserNamespace(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = []string{"coordinator", "--version"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	err := cmd.Run()
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return nil // it was started
}
