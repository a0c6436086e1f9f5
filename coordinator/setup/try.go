package setup

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/coordinator/provider"
	"browser-coordinator/internal/fspath"
)

// variable matches the forms of variables that hosts replace in an entry.
var variable = regexp.MustCompile(`\$\{[^}]*\}|\$[A-Za-z_]\w*|\{[a-z]+:[^}]*\}|%[A-Za-z_]\w*%`)

// Try finds out what an entry does that is vouched for. The fault is why it does not work, as the
// predicate of "it"; empty: none was found. untried names what only the host replaces, because of
// which it was not tried; empty: it was, or there is nothing to try.
func (s State) Try(ctx context.Context, folder string) (fault, untried string) {
	if s.URL != "" {
		return s.tryURL(ctx)
	}
	if !isOwnProgram(s.Program) {
		return "", ""
	}
	if i := slices.IndexFunc(s.Args, variable.MatchString); i >= 0 {
		return "", s.Args[i]
	}
	if i := slices.IndexFunc(s.Env, variable.MatchString); i >= 0 {
		name, _, _ := strings.Cut(s.Env[i], "=") // the value may be secret
		return "", name
	}
	if fault := StartFault(ctx, s.Args, s.Env, folder); fault != "" {
		return fault, ""
	}
	env := func(name string) string {
		value := os.Getenv(name)
		for _, variable := range s.Env {
			if v, isSet := strings.CutPrefix(variable, name+"="); isSet {
				value = v
			}
		}
		return value
	}
	if s.has("--attach", "--grid") || env(provider.EnvAttach)+env(provider.EnvGrid) != "" {
		return "", "" // it launches no browser
	}
	if browser := s.valueOf("--executable"); browser != "" {
		if err := checkBrowser(ctx, browser); err != nil {
			return fmt.Sprintf("its --executable: %v", err), ""
		}
	} else if browser := env(chrome.EnvBrowser); browser != os.Getenv(chrome.EnvBrowser) {
		if err := checkBrowser(ctx, browser); err != nil {
			return fmt.Sprintf("its variable %s: %v", chrome.EnvBrowser, err), ""
		}
	}
	if s.has("--headed", "--headed=true", "--headless=false") {
		if fault := chrome.DisplayFault(env); fault != "" {
			return "it has --headed, and " + fault, ""
		}
	}
	return "", ""
}

// has reports whether an entry has one of these flags.
func (s State) has(flags ...string) bool {
	return slices.ContainsFunc(s.Args, func(arg string) bool {
		return slices.ContainsFunc(flags, func(f string) bool { return arg == f || strings.HasPrefix(arg, f+"=") })
	})
}

// valueOf is the value of a flag; empty: the entry does not have it.
func (s State) valueOf(flag string) string {
	for i, arg := range s.Args {
		if value, joined := strings.CutPrefix(arg, flag+"="); joined {
			return value
		}
		if arg == flag && i+1 < len(s.Args) {
			return s.Args[i+1]
		}
	}
	return ""
}

// checkBrowser returns an error if that is no browser. It runs the program: the entry is the
// user's own.
func checkBrowser(ctx context.Context, browser string) error {
	path, err := chrome.Find(chrome.FindOptions{Executable: browser})
	if err != nil || slices.Contains(chrome.Installed(), path) {
		return err
	}
	return chrome.Check(ctx, path)
}

// tryURL requests what an entry connects to.
func (s State) tryURL(ctx context.Context) (fault, untried string) {
	missing := ""
	authorization := variable.ReplaceAllStringFunc(s.Headers["Authorization"], func(text string) string {
		name := strings.TrimPrefix(strings.Trim(text, "${}%"), "env:")
		value, isSet := os.LookupEnv(name)
		if !isSet {
			missing = text
		}
		return value
	})
	switch {
	case variable.MatchString(s.URL):
		return "", variable.FindString(s.URL)
	case s.Headers["Authorization"] == "":
		return "it sends no header Authorization, so the coordinator refuses it: add \"Authorization: Bearer TOKEN\", with " +
			"the token that `coordinator mcp --listen` names", ""
	case missing != "":
		authorization = ""
	}
	ctx, cancel := context.WithTimeout(ctx, listenerTimeout)
	defer cancel()
	res, err := requestListener(ctx, s.URL, "") // a token only for a coordinator
	switch {
	case err != nil:
		return "no program serves at " + maskAddresses(s.URL) + ": start `coordinator mcp --listen` with its address", ""
	case !isCoordinator(res):
		return "another program serves at " + maskAddresses(s.URL), ""
	case missing != "":
		return "", missing
	}
	if res, err = requestListener(ctx, s.URL, authorization); err != nil || res.StatusCode == http.StatusUnauthorized {
		return "the coordinator at " + maskAddresses(s.URL) + " refuses its token: use the one in the file that " +
			"`coordinator mcp --listen` names", ""
	}
	return "", ""
}

// startTimeout bounds how long this program takes to respond to a host's first request.
const startTimeout = 20 * time.Second

// StartFault starts this program with these arguments, as a host that has these variables besides
// its own, and requests MCP's initialize. The result is why the program does not respond; empty: it
// does. The program finds no window of the user and keeps its state in a new folder, so that it
// disturbs nobody.
func StartFault(ctx context.Context, args, env []string, folder string) string {
	executable, err := os.Executable()
	if err != nil {
		return "" // doctor's check of the program reports it
	}
	dir, err := os.MkdirTemp("", "browser-coordinator-doctor-")
	if err != nil {
		return fmt.Sprintf("it cannot be tried: %v", err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var messages bytes.Buffer
	// Not a folder that it would make.
	args = slices.Concat([]string{"coordinator"}, args, []string{"--output-dir", dir})
	if runtime.GOOS == "windows" { // all programs of a user see the same pipes
		args = append(args, "--workspace", dir)
	}
	cmd := &exec.Cmd{Path: executable, Args: args, Dir: dir, Stderr: &messages}
	if fspath.Exists(folder) {
		cmd.Dir = folder
	}
	shell := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "BROWSER_COORDINATOR_")
	})
	cmd.Env = slices.Concat(shell, env, []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_STATE_HOME=" + dir})
	host := mcp.NewClient(&mcp.Implementation{Name: "coordinator doctor", Version: "1"}, nil)
	session, err := host.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err == nil {
		session.Close() // it has responded
		return ""
	}
	for line := range strings.Lines(messages.String()) {
		if message, isError := strings.CutPrefix(line, "coordinator: "); isError {
			return maskText(strings.TrimRight(message, ".\n"))
		}
	}
	if ctx.Err() != nil {
		return fmt.Sprintf("it does not respond to MCP's initialize within %v", startTimeout)
	}
	return "it ended before it responded to MCP's initialize"
}
