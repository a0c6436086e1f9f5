package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"browser-coordinator/coordinator/setup"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

const hostGroup = "MCP hosts"

var hostChecks = []check{
	{"hosts", hostGroup, "what MCP hosts start", checkHosts},
}

// hostEntry is what a file of a host has of the coordinator.
type hostEntry struct {
	setup.State
	host  setup.Host
	scope setup.Scope
	err   error
}

// readEntries reads the files of all hosts, those of a project in the workspace's folder.
func readEntries(workspace string) (all []hostEntry) {
	workspace = folderOf(workspace)
	for _, h := range setup.Hosts() {
		for _, scope := range h.ScopesIn(workspace) {
			state, err := h.Inspect(scope, workspace)
			all = append(all, hostEntry{state, h, scope, err})
		}
	}
	return all
}

// folderOf is a workspace's folder, also of a .code-workspace file.
func folderOf(workspace string) string {
	if info, err := os.Stat(workspace); err == nil && !info.IsDir() {
		return filepath.Dir(workspace)
	}
	return workspace
}

func checkHosts(ctx context.Context, x *examination) []Finding {
	var found []Finding
	entered := map[string]bool{}
	broken := map[string]bool{}
	for _, e := range x.entries() {
		switch {
		case e.File == "" && e.err != nil: // as for all others
			return []Finding{unknown("the files of the hosts: %v.", e.err)}
		case e.err != nil:
			broken[e.host.ID] = true
			found = append(found, e.unusable())
		case e.Name != "":
			entered[e.host.ID] = true
			found = append(found, e.examine(ctx, x))
		}
	}
	for _, h := range setup.Hosts() {
		switch {
		case entered[h.ID] || broken[h.ID] || !h.Installed():
		case len(h.Scopes()) == 0:
			found = append(found, unknown("%s has no file of its servers that programs can read.", h.Name))
		default:
			found = append(found, ok("%s has no entry. To add one: coordinator setup %s", h.Name, h.ID))
		}
	}
	if len(entered)+len(broken) == 0 && !hasVSCode(x.windows()) {
		found = append(found, finding(Warning, "coordinator setup", "No host has an entry in its file, so no agent is known to start the coordinator."))
	}
	if len(found) == 0 {
		found = append(found, ok("VS Code offers the coordinator to its own agents. No other host is known here."))
	}
	return found
}

// hasVSCode reports whether a window of VS Code is open, whose extension offers the
// coordinator without an entry.
func hasVSCode(windows []vscodeipc.Verdict) bool {
	return slices.ContainsFunc(windows, func(v vscodeipc.Verdict) bool { return v.Hello != nil && v.Hello.Server.Kind == "vscode" })
}

// syntax matches what a parser reports behind the place of an error: it may quote a
// secret.
var syntax = regexp.MustCompile(`(?s)(it is not valid \w+)(: line [0-9]+, column [0-9]+)?.*`)

func (e hostEntry) unusable() Finding {
	reason := strings.TrimPrefix(e.err.Error(), e.File+" is left as it is: ")
	reason = syntax.ReplaceAllString(reason, "$1$2")
	if errors.Is(e.err, fs.ErrPermission) {
		return unknown("%s of %s cannot be read: %s.", e.File, e.host.Name, reason)
	}
	return finding(Problem, fmt.Sprintf("correct %s in an editor", e.File),
		"%s may start no server of %s: %s.", e.host.Name, e.File, reason)
}

// examine examines the program that an entry starts.
func (e hostEntry) examine(ctx context.Context, x *examination) Finding {
	again := fmt.Sprintf("coordinator setup %s --%s", e.host.ID, e.scope)
	if cwd, err := os.Getwd(); e.scope == setup.Project && (err != nil || !sameFile(cwd, folderOf(x.Folder))) {
		again += " --workspace " + terminal.Word(folderOf(x.Folder))
	}
	switch {
	case e.Command == "":
		return finding(Warning, again+" --remove; "+again, "%s starts no program by its entry %s in %s.", e.host.Name, e.Name, e.File)
	case !e.Works():
		return finding(Problem, again, "%s starts %s, as %s names it, and there is no such program.", e.host.Name, e.Command, e.File)
	}
	if e.Off {
		return finding(Warning, "turn the server on in "+e.host.Name, "%s does not start the coordinator: the entry %s in %s is turned off.", e.host.Name, e.Name, e.File)
	}
	version := e.version(ctx, x)
	switch {
	case version == "" && e.IsCoordinator():
		return ok("%s starts %s, by %s.", e.host.Name, e.Command, e.File)
	case version == "":
		return unknown("%s starts %s, by %s. It may be another program than the coordinator.", e.host.Name, e.Program, e.File)
	case !sameRelease(version, x.Version):
		return finding(Warning, "update "+e.Program+", or name this program in the entry", "%s starts %s, by %s. It has version %s, this program %s.", e.host.Name, e.Program, e.File, version, x.Version)
	}
	return ok("%s starts %s, version %s, by %s.", e.host.Name, e.Program, version, e.File)
}

// version is that of the program which an entry starts; empty: it is not known. A
// project's file may be from anyone, so a program that only it names is not started.
func (e hostEntry) version(ctx context.Context, x *examination) string {
	if own, err := os.Executable(); err == nil && sameFile(own, e.Program) {
		return x.Version
	}
	name := strings.TrimSuffix(filepath.Base(e.Program), ".exe")
	onPath, err := exec.LookPath("coordinator")
	trusted := e.scope == setup.User || err == nil && sameFile(onPath, e.Program)
	if name != "coordinator" || !trusted || !filepath.IsAbs(e.Program) { // it has a variable of the host
		return ""
	}
	version, err := programVersion(ctx, e.Program)
	if err != nil {
		return ""
	}
	return version
}
