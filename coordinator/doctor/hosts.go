package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"browser-coordinator/coordinator/setup"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/internal/fspath"
	"browser-coordinator/vscodeipc"
)

const hostGroup = "MCP hosts"

var hostChecks = []check{
	{"hosts", hostGroup, "what MCP hosts start", checkHosts},
}

func checkHosts(ctx context.Context, x *examination) (found []Finding) {
	known := map[string]bool{} // those that a finding names
	for _, f := range x.files() {
		switch {
		case f.Path == "" && f.Err != nil: // as for all others
			return []Finding{unknown("what hosts start cannot be read: %v.", f.Err)}
		case f.Duplicate:
		case f.Err != nil:
			known[f.Host] = true
			found = append(found, unusable(f))
		case f.Entry != "":
			known[f.Host] = true
			found = append(found, examineEntry(ctx, f, x))
		}
	}
	for _, host := range setup.Hosts() {
		for _, other := range host.Others(fspath.FolderOf(x.Folder)) {
			found = append(found, examineOther(host, other))
		}
	}
	skills := setup.Skills(fspath.FolderOf(x.Folder))
	for _, s := range skills {
		found = append(found, x.examineSkill(s))
	}
	if len(known) == 0 && len(skills) == 0 && !hasVSCode(x.windows()) {
		found = append(found, finding(Warning, "coordinator setup",
			"No host has an entry in its file, so no agent is known to start the coordinator."))
	}
	for _, f := range x.files() {
		switch {
		case known[f.Host] || !f.Found:
		case f.Path == "":
			found = append(found, unknown("this program cannot read which servers %s starts.", f.Name))
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

// examineOther reports a server that may be taken for the coordinator. Its arguments and its
// environment, which may be secret, are not reported.
func examineOther(host setup.Host, other setup.Other) (found Finding) {
	if other.Err != nil {
		reason := strings.TrimPrefix(other.Err.Error(), other.File+" is left as it is: ")
		return unusable(setup.File{Name: host.Name, Path: other.File, Error: reason,
			Details: setup.Details{Err: other.Err}})
	}
	s := other.State
	text := fmt.Sprintf("%s: the server %s in %s %s.", host.Name, s.Name, other.File, s.Summary())
	switch {
	case s.Works():
		found = ok("%s It is the coordinator too.", text)
	case other.Scope == setup.User:
		found = ok("%s It names the coordinator, which does not vouch for it.", text)
	default:
		found = finding(Warning, "read it in "+other.File+", and remove it if it is not meant to be there",
			"%s It names the coordinator, which does not vouch for it.", text)
	}
	found.masked = fmt.Sprintf("%s: a server in %s names the coordinator.", host.Name, other.File)
	return found
}

// examineSkill examines a file that has an agent use the coordinator in a shell.
func (x *examination) examineSkill(s setup.Skill) Finding {
	if s.Health == setup.Works {
		return ok("%s has the skill, in %s.", s.Names(), s.File)
	}
	verdict := Warning
	if s.Health == setup.Broken {
		verdict = Problem
	}
	if s.Scope == setup.Project && strings.HasPrefix(s.Fix, "coordinator ") {
		s.Fix += " --workspace " + terminal.Word(fspath.FolderOf(x.Folder))
	}
	return finding(verdict, s.Fix, "%s: the skill in %s %s.", s.Names(), s.File, s.Text)
}

// hasVSCode reports whether a window of VS Code is open, whose extension offers the
// coordinator without an entry.
func hasVSCode(windows []vscodeipc.Verdict) bool {
	return slices.ContainsFunc(windows, func(v vscodeipc.Verdict) bool {
		return v.Hello != nil && v.Hello.Server.Kind == "vscode"
	})
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
		"%s may start none of the servers in %s: %s.", f.Name, f.Path, reason)
}

// examineEntry examines the program that an entry starts.
func examineEntry(ctx context.Context, f setup.File, x *examination) Finding {
	if d := f.Diagnosis; d.Health != setup.Works {
		verdict, fix := Warning, d.Fix
		if d.Health == setup.Broken {
			verdict = Problem
			if f.Scope == setup.Project && strings.HasPrefix(fix, "coordinator ") {
				fix += " --workspace " + terminal.Word(fspath.FolderOf(x.Folder))
			}
		}
		found := finding(verdict, fix, "%s: the entry %s in %s %s.", f.Name, f.Entry, f.Path, d.Text)
		found.masked = fmt.Sprintf("%s: the entry %s in %s is none that works.", f.Name, f.Entry, f.Path)
		return found
	}
	untried := ""
	if f.Untried != "" {
		untried = fmt.Sprintf(" It was not tried: its %s has a variable that only %s replaces.", f.Untried, f.Name)
	}
	if f.State.URL != "" {
		found := ok("%s %s, as %s says.%s", f.Name, f.Diagnosis.Text, f.Path, untried)
		found.masked = fmt.Sprintf("%s connects to a coordinator, as %s says.", f.Name, f.Path)
		return found
	}
	program, version := f.State.Program, x.Version
	if executable, err := os.Executable(); err != nil || !setup.SameFile(executable, program) {
		version = versionOnPath(ctx, program)
	}
	switch {
	case version != "" && !sameRelease(version, x.Version):
		return finding(Warning, "update "+program+", or name this program in the entry",
			"%s starts %s, as %s says. It has version %s, this program %s.", f.Name, program, f.Path,
			version, x.Version)
	case version != "":
		found := ok("%s starts %s, version %s, as %s says.", f.Name, program, version, f.Path)
		found.masked = found.Text // the rest has a part of the entry
		found.Text += untried
		return found
	}
	return ok("%s starts %s, as %s says.", f.Name, f.Command, f.Path)
}

// versionOnPath is the version of a program if it is the coordinator on PATH; empty: it is
// the npm package. An entry is not reason enough to run another program.
func versionOnPath(ctx context.Context, program string) string {
	onPath, err := exec.LookPath("coordinator")
	if err != nil || !setup.SameFile(onPath, program) {
		return ""
	}
	version, _ := programVersion(ctx, onPath) // empty with an error
	return version
}
