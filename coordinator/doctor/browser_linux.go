package doctor

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

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
	if fault := chrome.DisplayFault(os.Getenv); fault != "" {
		return []Finding{finding(Warning, "set DISPLAY to the display that you see, or unset it",
			"No browser can show a window: %s.", fault)}
	}
	return []Finding{ok("The display is %s.", name)}
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
