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

	"browser-coordinator/coordinator/setup"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

const hostGroup = "MCP hosts"

var hostChecks = []check{
	{"hosts", hostGroup, "what MCP hosts start", checkHosts},
}

// folderOf is a workspace's folder, also of a .code-workspace file.
func folderOf(workspace string) string {
	if info, err := os.Stat(workspace); err == nil && !info.IsDir() {
		return filepath.Dir(workspace)
	}
	return workspace
}

func checkHosts(ctx context.Context, x *examination) (found []Finding) {
	known := map[string]bool{} // those that a finding names
	for _, f := range x.files() {
		switch {
		case f.Path == "" && f.Err != nil: // as for all others
			return []Finding{unknown("the files of the hosts: %v.", f.Err)}
		case f.Again:
		case f.Err != nil:
			known[f.Host] = true
			found = append(found, unusable(f))
		case f.Entry != "":
			known[f.Host] = true
			found = append(found, examineEntry(ctx, f, x))
		}
	}
	if len(known) == 0 && !hasVSCode(x.windows()) {
		found = append(found, finding(Warning, "coordinator setup", "No host has an entry in its file, so no agent is known to start the coordinator."))
	}
	for _, f := range x.files() {
		switch {
		case known[f.Host] || !f.Found:
		case f.Path == "":
			found = append(found, unknown("%s has no file of its servers that programs can read.", f.Name))
		default:
			known[f.Host] = true
			found = append(found, ok("%s has no entry. To add one: coordinator setup %s", f.Name, f.Host))
		}
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

func unusable(f setup.File) Finding {
	reason := syntax.ReplaceAllString(f.Error, "$1$2")
	if errors.Is(f.Err, fs.ErrPermission) {
		return unknown("%s of %s cannot be read: %s.", f.Path, f.Name, reason)
	}
	return finding(Problem, fmt.Sprintf("correct %s in an editor", f.Path),
		"%s may start no server of %s: %s.", f.Name, f.Path, reason)
}

// examineEntry examines the program that an entry starts.
func examineEntry(ctx context.Context, f setup.File, x *examination) Finding {
	if d := f.Of.Diagnose(f.Scope, f.State); d.Health != setup.Works {
		verdict, fix := Warning, d.Fix
		if d.Health == setup.Broken {
			verdict = Problem
			if f.Scope == setup.Project {
				fix += " --workspace " + terminal.Word(folderOf(x.Folder))
			}
		}
		const format = "%s: the entry %s in %s %s."
		found := finding(verdict, fix, format, f.Name, f.Entry, f.Path, d.Text)
		found.masked = fmt.Sprintf(format, f.Name, f.Entry, f.Path, d.Masked)
		return found
	}
	program, version := f.State.Program, versionOf(ctx, f, x)
	switch {
	case version != "" && !sameRelease(version, x.Version):
		return finding(Warning, "update "+program+", or name this program in the entry", "%s starts %s, by %s. It has version %s, this program %s.", f.Name, program, f.Path, version, x.Version)
	case version != "":
		return ok("%s starts %s, version %s, by %s.", f.Name, program, version, f.Path)
	}
	return ok("%s starts %s, by %s.", f.Name, f.Command, f.Path)
}

// versionOf is that of the program which an entry starts, this one or the coordinator on
// PATH; empty: it is the npm package. An entry is not reason enough to run a program.
func versionOf(ctx context.Context, f setup.File, x *examination) string {
	program := f.State.Program
	if own, err := os.Executable(); err == nil && sameFile(own, program) {
		return x.Version
	}
	onPath, err := exec.LookPath("coordinator")
	if err != nil || !sameFile(onPath, program) {
		return ""
	}
	version, _ := programVersion(ctx, onPath) // empty with an error
	return version
}
