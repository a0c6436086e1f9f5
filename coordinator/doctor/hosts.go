package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/chrome"
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
	text := fmt.Sprintf("%s: the server %s in %s starts %s.", host.Name, s.Name, other.File,
		cmp.Or(s.Command, "no program"))
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
	if d := f.Configures.Diagnose(f.Scope, f.State); d.Health != setup.Works {
		verdict, fix := Warning, d.Fix
		if d.Health == setup.Broken {
			verdict = Problem
			if f.Scope == setup.Project {
				fix += " --workspace " + terminal.Word(fspath.FolderOf(x.Folder))
			}
		}
		found := finding(verdict, fix, "%s: the entry %s in %s %s.", f.Name, f.Entry, f.Path, d.Text)
		found.masked = fmt.Sprintf("%s: the entry %s in %s is none that works.", f.Name, f.Entry, f.Path)
		return found
	}
	program, version, untried := f.State.Program, "", ""
	if executable, err := os.Executable(); err != nil || !setup.SameFile(executable, program) {
		version = versionOnPath(ctx, program)
	} else {
		version = x.Version
		if word := variableOf(f.State); word != "" {
			untried = fmt.Sprintf(" It was not tried: its %s has a variable that only %s replaces.", word, f.Name)
		} else if reason := x.faultOf(ctx, f.State); reason != "" {
			const format = "%s: the entry %s in %s does not work"
			found := finding(Problem, "correct "+f.Path+" in an editor", format+": %s.", f.Name, f.Entry, f.Path,
				reason)
			found.masked = fmt.Sprintf(format+".", f.Name, f.Entry, f.Path) // the reason has parts of the entry
			return found
		}
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

// variable matches the forms of variables that hosts replace in an entry.
var variable = regexp.MustCompile(`\$\{|\$[A-Za-z_]|\{[a-z]+:|%[A-Za-z_]\w*%`)

// variableOf is the first argument or variable of an entry that the host completes; empty:
// there is none. In place of a variable's value, which may be secret, it has its name.
func variableOf(s setup.State) string {
	if i := slices.IndexFunc(s.Args, variable.MatchString); i >= 0 {
		return s.Args[i]
	}
	if i := slices.IndexFunc(s.Env, variable.MatchString); i >= 0 {
		name, _, _ := strings.Cut(s.Env[i], "=")
		return name
	}
	return ""
}

// faultOf is why an entry of this program does not do what it should; empty: it does.
func (x *examination) faultOf(ctx context.Context, s setup.State) string {
	if fault := startFault(ctx, s, fspath.FolderOf(x.Folder)); fault != "" {
		return fault
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
	if browser := env(chrome.EnvBrowser); browser != os.Getenv(chrome.EnvBrowser) {
		if _, err := chrome.Find(chrome.FindOptions{Executable: browser}); err != nil {
			return fmt.Sprintf("its variable %s: %v", chrome.EnvBrowser, err)
		}
	}
	if slices.Contains(s.Args, "--headed") {
		if fault := displayFault(env); fault != "" {
			return "it has --headed, and " + fault
		}
	}
	return ""
}

// startTimeout bounds how long this program takes to respond to a host's first request.
const startTimeout = 20 * time.Second

// startFault starts this program as an entry does, and requests MCP's initialize. The
// program finds no window of the user and keeps its state in a new folder, so that it disturbs
// nobody.
func startFault(ctx context.Context, s setup.State, folder string) string {
	executable, err := os.Executable()
	if err != nil {
		return "" // the check of the program reports it
	}
	dir, err := os.MkdirTemp("", "browser-coordinator-doctor-")
	if err != nil {
		return fmt.Sprintf("it cannot be tried: %v", err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var messages bytes.Buffer
	args := slices.Concat([]string{"coordinator"}, s.Args,
		[]string{"--output-dir", dir}, // not one that it would make
		withoutWindow(dir))
	cmd := &exec.Cmd{Path: executable, Args: args, Dir: dir, Stderr: &messages}
	if fspath.Exists(folder) {
		cmd.Dir = folder
	}
	shell := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "BROWSER_COORDINATOR_")
	})
	cmd.Env = slices.Concat(shell, s.Env, []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_STATE_HOME=" + dir})
	host := mcp.NewClient(&mcp.Implementation{Name: "coordinator doctor", Version: "1"}, nil)
	session, err := host.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err == nil {
		session.Close() // it has responded
		return ""
	}
	for line := range strings.Lines(messages.String()) {
		if message, isError := strings.CutPrefix(line, "coordinator: "); isError {
			return strings.TrimRight(message, ".\n")
		}
	}
	if ctx.Err() != nil {
		return fmt.Sprintf("it does not respond to MCP's initialize within %v", startTimeout)
	}
	return "it ended before it responded to MCP's initialize"
}
