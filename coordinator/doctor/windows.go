package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"browser-coordinator/coordinator/registry"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/internal/fspath"
	"browser-coordinator/vscodeipc"
)

const windowGroup = "Windows"

var windowChecks = []check{
	{"windows", windowGroup, "the open windows and their sockets", checkWindows},
	{"workspace", windowGroup, "the window of this folder", checkWorkspace},
}

func checkWindows(_ context.Context, x *examination) []Finding {
	var found []Finding
	var stale []string
	isOpen := false
	for _, v := range x.windows() {
		switch v.Verdict {
		case vscodeipc.Live:
			isOpen = true
			found = append(found, liveWindow(v))
		case vscodeipc.Stale:
			stale = append(stale, string(v.Address))
		case vscodeipc.Busy:
			isOpen = true
			found = append(found, finding(Warning,
				"if it stays so, run the command “Developer: Reload Window” in that window",
				"The window at %s does not respond: %s.", v.Address, v.Reason))
		case vscodeipc.Incompatible:
			isOpen = true
			found = append(found, finding(Problem,
				"update the extension Browser Coordinator or this program, whichever is older; then run the "+
					"command “Developer: Reload Window”",
				"The window at %s cannot be used: %s.", v.Address, v.Reason))
		case vscodeipc.Foreign:
			found = append(found, finding(Problem,
				"move it elsewhere; --fix does not delete it, since no window made it",
				"At the address %s is something else: %s.", v.Address, v.Reason))
		}
	}
	if len(stale) > 0 {
		found = append(found, Finding{
			Verdict: Warning,
			Text: fmt.Sprintf("%s without a window, as a killed one leaves: %s.",
				terminal.Count(len(stale), "socket is", "sockets are"), strings.Join(stale, ", ")),
			Fix:    "coordinator probe",
			repair: x.deleteStale,
		})
	}
	if !isOpen {
		found = append(found, finding(Warning, "open a folder in VS Code with the extension Browser Coordinator, or "+
			"run `coordinator window`",
			"No window is open: an agent gets a private browser."))
	}
	return found
}

func liveWindow(v vscodeipc.Verdict) Finding {
	h := v.Hello
	browser := "no browser"
	switch {
	case h.State.Browser != nil:
		browser = strings.TrimSpace("the browser " + h.State.Browser.Product)
	case len(h.State.Pages) > 0:
		browser = terminal.Count(len(h.State.Pages), "shared page", "shared pages")
	}
	text := fmt.Sprintf("%s is open (%s %s, pid %d) with %s. Agents have the access mode %s", label(v), h.Server.Name,
		h.Server.Version, h.PID, browser, h.State.Access.Mode)
	if stopped := len(h.State.Access.Stopped); stopped > 0 {
		text += fmt.Sprintf(", and %s stopped", terminal.Count(stopped, "client is", "clients are"))
	}
	if h.State.Browser == nil && slices.ContainsFunc(h.State.DebugSessions,
		func(s vscodeipc.DebugSession) bool { return s.Remote }) {
		text += ". " + remoteBrowser()
	}
	return ok("%s.", text)
}

// remoteBrowser explains which side is which.
func remoteBrowser() string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return fmt.Sprintf("The extension and the coordinator run here, on %s; the debug browser runs on your own "+
		"machine, so it has no port that can be reached from here. "+
		"Agents and CDP clients use its pages through the debugger's shared sessions. That is slower, and clients "+
		"cannot make browser contexts, set breakpoints or step", host)
}

// checkWorkspace finds the window that an agent in the folder gets.
func checkWorkspace(ctx context.Context, x *examination) []Finding {
	if x.Folder == "" {
		return []Finding{finding(Problem, "cd to a folder that exists",
			"The working directory no longer exists: commands and agents of this shell fail.")}
	}
	if !fspath.Exists(x.Folder) { // only the variable can name such a folder here
		return []Finding{finding(Problem, "unset "+registry.EnvWorkspace,
			"$%s is %s, which does not exist: commands and agents of this shell fail.", registry.EnvWorkspace,
			x.Folder)}
	}
	if !slices.ContainsFunc(x.windows(), func(v vscodeipc.Verdict) bool { return v.Verdict != vscodeipc.Stale }) {
		return nil // the check of the windows reports it
	}
	windows := registry.Open(ctx, registry.Options{Client: x.Client})
	defer windows.Close()
	w, _, err := windows.Resolve(ctx, registry.Want{Explicit: x.Folder})
	none, isNone := errors.AsType[*registry.SelectionError](err)
	switch {
	case err == nil:
		return []Finding{ok("An agent in %s gets the window %s.", x.Folder, w.Label())}
	case !isNone:
		return []Finding{unknown("the window of %s: %v.", x.Folder, err)}
	case none.Match != nil:
		return []Finding{finding(Warning, "solve that, or close the window",
			"The window of %s cannot be used, so calls of an agent there fail: %s.", x.Folder, none.Match.Reason)}
	case none.Ambiguous:
		return []Finding{finding(Warning, "close all but one of these windows, or name the address of one to the agent",
			"Several windows fit %s, so an agent there has to name one: coordinator status --json shows their "+
				"addresses.", x.Folder)}
	}
	return []Finding{finding(Warning, fmt.Sprintf("open %s in VS Code, or run: coordinator window --workspace %[1]s",
		terminal.Word(x.Folder)),
		"No open window has the folder %s: an agent there gets a private browser.", x.Folder)}
}

// deleteStale deletes the stale sockets, as `coordinator probe` does.
func (x *examination) deleteStale(ctx context.Context) (string, error) {
	verdicts, err := vscodeipc.Probe(ctx, vscodeipc.ProbeOptions{Dial: vscodeipc.DialOptions{Client: x.Client}})
	var deleted []string
	for _, v := range verdicts {
		if v.Deleted {
			deleted = append(deleted, string(v.Address))
		}
	}
	if len(deleted) == 0 {
		return "", err
	}
	return fmt.Sprintf("Deleted %s.", strings.Join(deleted, ", ")), err
}
