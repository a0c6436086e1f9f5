package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/setup"
)

var systemBrowserChecks = []check{
	{"display", browserGroup, "the display for a browser's window", checkDisplay},
	{"sandbox", browserGroup, "the sandbox of a browser", checkSandbox},
}

func checkDisplay(context.Context, *examination) []Finding {
	name := cmp.Or(os.Getenv("WAYLAND_DISPLAY"), os.Getenv("DISPLAY"))
	if name == "" {
		return []Finding{ok("There is no display. Private browsers are headless; `coordinator window` needs " +
			"--headless, and no host's entry may have --headed.")}
	}
	if fault := displayFault(os.Getenv); fault != "" {
		return []Finding{finding(Warning, "set DISPLAY to the display that you see, or unset it",
			"No browser can show a window: %s.", fault)}
	}
	return []Finding{ok("The display is %s.", name)}
}

// displayFault is why no window can be shown on the display that an environment names;
// empty: one can, or the display is on another machine.
func displayFault(env func(string) string) string {
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

func checkSandbox(ctx context.Context, _ *examination) []Finding {
	browser, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		return nil // there is no browser to examine
	}
	if os.Geteuid() == 0 {
		return []Finding{finding(Warning, "run the agent as another user than root",
			"You are root, for whom browsers have no sandbox: a private browser is started with --no-sandbox.")}
	}
	if helper := setuidHelper(browser); helper != "" {
		return []Finding{ok("%s makes the browser's sandbox.", helper)}
	}
	if err := tryUserNamespace(ctx); err != nil {
		return []Finding{finding(Problem, "sudo sysctl -w kernel.unprivileged_userns_clone=1 "+
			"user.max_user_namespaces=10000; "+
			"in a container: start it with `--security-opt seccomp=unconfined`",
			"This system does not allow the user namespaces that a browser's sandbox needs (%v), so a private browser "+
				"does not start.", setup.Cause(err))}
	}
	restricted, _ := os.ReadFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") // most systems have none
	if strings.TrimSpace(string(restricted)) == "1" {
		return []Finding{unknown("AppArmor limits user namespaces to programs with a profile of their own. "+
			"An installed package of %s has one; a copied browser does not, and does not start.",
			filepath.Base(browser))}
	}
	return []Finding{ok("The system allows the user namespaces that a browser's sandbox needs.")}
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
	if err := cmd.Start(); err != nil {
		return err
	}
	_ = cmd.Wait() // it was started
	return nil
}
