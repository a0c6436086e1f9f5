package chrome

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Options of a launch. Only Executable is required.
type Options struct {
	Executable  string
	Headless    bool
	UserDataDir string   // the profile, used by one coordinator at a time; empty: a private one, removed at the end
	Isolated    bool     // work in a private copy of UserDataDir
	Proxy       string   // as --proxy-server takes it
	Viewport    string   // WIDTHxHEIGHT of the window; empty: the browser's choice
	Args        []string // further command-line arguments
	URL         string   // first page; empty: about:blank
	Logger      *slog.Logger
	// DebuggingPort is the port of the loopback address on which the browser listens; 0: the
	// system chooses one. Every user of the machine can connect to it and control the
	// browser. Nil: a pipe that only this process has; on Windows still a port.
	DebuggingPort *int
}

// KeepsProfile reports whether the profile stays when the browser has ended.
func (o *Options) KeepsProfile() bool { return o.UserDataDir != "" && !o.Isolated }

// arguments builds the command line. The flags keep the browser from contacting its
// vendor, from asking the user, and from slowing down pages in the background, where an
// agent's pages usually are.
func (o *Options) arguments(profile string, root bool) ([]string, error) {
	args := []string{
		o.debugging(),
		"--user-data-dir=" + profile,
		"--no-first-run",
		"--no-default-browser-check",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-default-apps",
		"--disable-domain-reliability",
		"--disable-quic",
		"--disable-sync",
		"--disable-search-engine-choice-screen",
		"--disable-background-timer-throttling",
		"--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding",
		"--disable-features=" + o.disabledFeatures(),
		"--enable-features=WebMCPTesting", // pages offer their tools, see coordinator/page/webmcp
		"--hide-crash-restore-bubble",
		"--metrics-recording-only",
		"--password-store=basic",
		"--use-mock-keychain",
	}
	if o.Headless {
		// A preview that nobody sees would never end, and keep the page from being saved as PDF.
		args = append(args, "--headless=new", "--hide-scrollbars", "--mute-audio", "--disable-print-preview")
	}
	if root {
		args = append(args, "--no-sandbox")
	}
	if o.Proxy != "" {
		args = append(args, "--proxy-server="+o.Proxy)
	}
	if o.Viewport != "" {
		width, height, err := ParseSize(o.Viewport)
		if err != nil {
			return nil, err
		}
		args = append(args, fmt.Sprintf("--window-size=%d,%d", width, height))
	}
	args = append(args, o.Args...)
	url := o.URL
	if url == "" {
		url = "about:blank"
	}
	return append(args, url), nil
}

// disabledFeatures are in one argument, since the browser reads only the last such one.
func (o *Options) disabledFeatures() string {
	features := "Translate,MediaRouter,OptimizationHints,NetworkTimeServiceQuerying"
	if o.Headless {
		// The popups of the address bar: two hidden pages, which take more than half of the
		// processor time of a start.
		features += ",WebUIOmniboxPopup,WebUIOmniboxAimPopup"
	}
	return features
}

func (o *Options) usesPipe() bool { return hasPipe && o.DebuggingPort == nil }

// debugging is the argument by which the browser can be debugged.
func (o *Options) debugging() string {
	switch {
	case o.usesPipe():
		return "--remote-debugging-pipe"
	case o.DebuggingPort == nil:
		return "--remote-debugging-port=0"
	}
	return fmt.Sprintf("--remote-debugging-port=%d", *o.DebuggingPort)
}

// ParseSize reads WIDTHxHEIGHT, in pixels.
func ParseSize(text string) (width, height int, err error) {
	var rest string
	if n, _ := fmt.Sscanf(text+" .", "%dx%d %s", &width, &height, &rest); n != 3 || rest != "." || width < 1 ||
		height < 1 {
		return 0, 0, fmt.Errorf("viewport %q: want WIDTHxHEIGHT, for example 1280x800", text)
	}
	return width, height, nil
}

// environment removes variables of VS Code's extension host: with ELECTRON_RUN_AS_NODE an
// Electron-based browser would start as Node. It removes the credentials for a provider too:
// the processes of pages have a copy of the environment in their memory.
func environment(env []string) []string {
	harmless := make([]string, 0, len(env))
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if upper := strings.ToUpper(name); upper == "ELECTRON_RUN_AS_NODE" || strings.HasPrefix(upper, "VSCODE_") ||
			slices.Contains(credentials, upper) {
			continue
		}
		harmless = append(harmless, entry)
	}
	return harmless
}

// credentials are the variables of package provider.
var credentials = []string{"BROWSER_COORDINATOR_GRID", "BROWSER_COORDINATOR_ATTACH", "BROWSER_COORDINATOR_HEADERS"}

// maxTemporary is the longest directory for temporary files: the socket that
// Chromium makes there, org.chromium.Chromium.XXXXXX/SingletonSocket, must fit
// into the 107 bytes of a socket's path.
const maxTemporary = 107 - 46

// privateFiles keeps files of a browser with a private profile in the profile that would
// otherwise be in the temporary and configuration directories: its lock's socket and the
// dumps of crashed pages. Both are places on Linux.
func privateFiles(profile string) []string {
	if profile == "" || runtime.GOOS != "linux" {
		return nil
	}
	env := []string{"BREAKPAD_DUMP_LOCATION=" + filepath.Join(profile, "crashes")}
	if len(profile) <= maxTemporary {
		env = append(env, "TMPDIR="+profile)
	}
	return env
}
