package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

var environmentChecks = []check{
	{"environment", directoryGroup, "the XDG variables here and in the windows", checkEnvironment},
}

// checkEnvironment compares this shell's environment with that of every window of the
// user, including those that are not found from here.
func checkEnvironment(_ context.Context, x *examination) []Finding {
	windows, err := listeningWindows()
	if err != nil {
		return []Finding{unknown("the system does not list the sockets of windows: %v.", err)}
	}
	dirs, err := vscodeipc.Dirs()
	if err != nil {
		return nil // the check of the sockets reports it
	}
	var found []Finding
	for _, w := range windows {
		env, err := environmentOf(w.pid)
		if err != nil {
			found = append(found, unknown("the environment of the window with pid %d cannot be read: %v.", w.pid, err))
			continue
		}
		searched := slices.ContainsFunc(dirs, func(d vscodeipc.Dir) bool { return d.Sockets == w.dir })
		if !searched {
			data := env["XDG_DATA_HOME"]
			if !filepath.IsAbs(data) { // it has another HOME, or has changed the variable itself
				data = filepath.Dir(w.dir)
			}
			found = append(found, finding(Warning, sameValue("XDG_DATA_HOME", data),
				"A window (pid %d) listens in %s, where programs of this shell do not look. XDG_DATA_HOME is %s there "+
					"and %s here.",
				w.pid, w.dir, data, shown(os.Getenv("XDG_DATA_HOME"))))
			continue
		}
		there := env["XDG_STATE_HOME"]
		if here := os.Getenv("XDG_STATE_HOME"); stateHome(there, env["HOME"]) != stateHome(here, os.Getenv("HOME")) {
			found = append(found, finding(Warning, sameValue("XDG_STATE_HOME", there),
				"The window with pid %d keeps its CDP address elsewhere: XDG_STATE_HOME is %s there and %s here. So "+
					"its address may be another one here.",
				w.pid, shown(there), shown(here)))
		}
	}
	switch {
	case len(found) > 0:
		return found
	case len(windows) == 0:
		return []Finding{ok("No window is open with which to compare this shell.")}
	}
	return []Finding{ok("%s the same directories as this shell.",
		terminal.Count(len(windows), "window uses", "windows use"))}
}

func stateHome(xdg, home string) string {
	if filepath.IsAbs(xdg) {
		return filepath.Clean(xdg)
	}
	return filepath.Join(home, ".local", "state")
}

// sameValue is the command that gives a variable the value that it has in another
// environment.
func sameValue(name, value string) string {
	if value != "" {
		return fmt.Sprintf("export %s=%s", name, terminal.Word(value))
	}
	return "unset " + name
}

func shown(value string) string {
	if value == "" {
		return "not set"
	}
	return value
}

// listeningWindow is a process of the user that listens in a directory of the user as a
// window does.
type listeningWindow struct {
	pid int
	dir string
}

// boundName is the first name of a window's socket (specs/window-protocol, section 2.1),
// which the kernel keeps.
var boundName = regexp.MustCompile(`^(/.*)/\.bind-([0-9]+)-[0-9a-f]{8}/s$`)

// listeningWindows reads the kernel's table of Unix sockets, which has windows in any
// directory.
func listeningWindows() (all []listeningWindow, err error) {
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(table)) {
		// Num, reference count, protocol, flags, type, state, inode, path.
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 8)
		if len(fields) < 8 || fields[3] != "00010000" { // listening
			continue
		}
		m := boundName.FindStringSubmatch(strings.TrimSpace(fields[7]))
		if m == nil {
			continue
		}
		pid, err := strconv.Atoi(m[2])
		if err != nil || !hasOpen(pid, "socket:["+fields[6]+"]") || !isOwnDir(m[1]) {
			continue // another user's, whatever its name says, or one of another pid namespace
		}
		all = append(all, listeningWindow{pid, m[1]})
	}
	return all, nil
}

func isOwnDir(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	st, known := info.Sys().(*syscall.Stat_t)
	return known && int(st.Uid) == os.Getuid()
}

// environmentOf is the environment with which a process of the user was started.
func environmentOf(pid int) (map[string]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		name, value, _ := strings.Cut(string(entry), "=")
		env[name] = value
	}
	return env, nil
}

// hasOpen reports whether a process of the user has a file open.
func hasOpen(pid int, file string) bool {
	descriptors, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(descriptors, func(descriptor string) bool {
		to, err := os.Readlink(descriptor)
		return err == nil && to == file
	})
}
