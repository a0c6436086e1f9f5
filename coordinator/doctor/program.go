package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/provider"
	"browser-coordinator/coordinator/setup"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/internal/fspath"
	"browser-coordinator/internal/trusted"
	"browser-coordinator/vscodeipc"
)

const programGroup = "Program"

var programChecks = []check{
	{"path", programGroup, "the program that hosts start by its name", checkPath},
	{"version", programGroup, "the versions of the program and the extension", checkVersions},
	{"config", programGroup, "the files with flags of the program", checkConfig},
}

// checkPath compares the coordinator on PATH with this one: hosts whose entry has only
// the name start the one on PATH.
func checkPath(ctx context.Context, x *examination) []Finding {
	executable, err := os.Executable()
	if err != nil {
		return []Finding{unknown("the system does not report the path of this program: %v.", err)}
	}
	onPath, err := exec.LookPath("coordinator")
	if err != nil {
		return []Finding{finding(Warning, addToPath(filepath.Dir(executable)),
			"The coordinator is not on PATH, so a host cannot start it by its name. This program is %s.", executable)}
	}
	if setup.SameFile(executable, onPath) {
		return []Finding{ok("A host that starts the coordinator by its name starts this program, %s.", onPath)}
	}
	if setup.Contains(onPath, fspath.FolderOf(x.Folder)) {
		return []Finding{finding(Warning, addToPath(filepath.Dir(executable)),
			"A host that starts the coordinator by its name starts %s, which is in the folder %s: whoever wrote the "+
				"folder may have made it. It was not run.", onPath, fspath.FolderOf(x.Folder))}
	}
	version, err := programVersion(ctx, onPath)
	switch {
	case err != nil:
		return []Finding{finding(Problem, addToPath(filepath.Dir(executable)),
			"A host that starts the coordinator by its name starts %s, which does not report its version: %v.", onPath,
			setup.Cause(err))}
	case !sameRelease(version, x.Version):
		return []Finding{finding(Warning, addToPath(filepath.Dir(executable)),
			"A host that starts the coordinator by its name starts %s, version %s. This program is %s, version %s.",
			onPath, version, executable, x.Version)}
	}
	return []Finding{ok("A host that starts the coordinator by its name starts %s, version %s. This program is %s.",
		onPath, version, executable)}
}

// checkConfig examines the user's config.toml, and those of the folder's project.
func checkConfig(ctx context.Context, x *examination) (found []Finding) {
	variables := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return !slices.ContainsFunc([]string{provider.EnvGrid, provider.EnvAttach, provider.EnvHeaders, setup.EnvCaps},
			func(name string) bool { return strings.HasPrefix(v, name+"=") })
	})
	if len(variables) > 0 {
		if fault := setup.StartFault(ctx, []string{"mcp"}, variables, ""); fault != "" {
			found = append(found, finding(Problem, "correct the variable, or unset it",
				"Agents get no coordinator whose host is started with the variables of this shell: %s.", fault))
		}
	}
	files := x.Config(fspath.FolderOf(x.Folder))
	for _, path := range slices.Sorted(maps.Keys(files)) {
		err := files[path]
		if err == nil {
			found = append(found, ok("The flags in %s are valid.", path))
			continue
		}
		fix := "correct the file, or remove it"
		if refused, is := errors.AsType[*trusted.Error](err); is {
			fix = refused.Next()
		}
		found = append(found, finding(Problem, fix, "Agents and CDP clients get no coordinator here: %v.", err))
	}
	return found
}

func addToPath(dir string) string {
	if runtime.GOOS == "windows" {
		return fmt.Sprintf(`add %s to the front of Path in the environment variables of your account`, dir)
	}
	return fmt.Sprintf(`export PATH=%s:"$PATH"`, terminal.Word(dir))
}

// programVersion runs a coordinator for its version.
func programVersion(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("it did not end within 3 s")
	}
	if err != nil {
		return "", err
	}
	version, isOurs := strings.CutPrefix(strings.TrimSpace(string(out)), "coordinator ")
	if !isOurs || strings.ContainsAny(version, " \n") {
		return "", fmt.Errorf("it is another program")
	}
	return version, nil
}

// sameRelease compares versions without what follows the numbers: a build's name.
func sameRelease(a, b string) bool { return numbers(a) == numbers(b) }

func numbers(version string) string {
	if end := strings.IndexAny(version, "-+"); end >= 0 {
		return version[:end]
	}
	return version
}

// checkVersions compares this program's version with those of the open windows.
func checkVersions(_ context.Context, x *examination) []Finding {
	var found []Finding
	for _, v := range x.windows() {
		if v.Verdict != vscodeipc.Live {
			continue
		}
		server := v.Hello.Server
		var update string
		switch {
		case server.Kind == "vscode" && server.Name == "browser-coordinator":
			update = "update the extension Browser Coordinator in VS Code and run the command “Developer: Reload " +
				"Window”, or update this program"
		case server.Kind == "terminal" && server.Name == "coordinator":
			update = "end `coordinator window` there and start it again"
		default:
			continue // a program with versions of its own
		}
		if !sameRelease(server.Version, x.Version) {
			found = append(found, finding(Warning, update, "The window %s has version %s, this program %s.", label(v),
				server.Version, x.Version))
		}
	}
	if len(found) == 0 {
		found = append(found, ok("This program has version %s. No open window has another one.", x.Version))
	}
	return found
}

// label names a window for the user.
func label(v vscodeipc.Verdict) string {
	if v.Hello == nil || v.Hello.Workspace == "" {
		return string(v.Address)
	}
	return v.Hello.Workspace
}
