package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

const programGroup = "Program"

var programChecks = []check{
	{"path", programGroup, "the program that hosts start by its name", checkPath},
	{"version", programGroup, "the versions of the program and the extension", checkVersions},
}

// checkPath compares the coordinator on PATH with this one: hosts whose entry has only
// the name start the one on PATH.
func checkPath(ctx context.Context, x *examination) []Finding {
	own, err := os.Executable()
	if err != nil {
		return []Finding{unknown("the system does not report the path of this program: %v.", err)}
	}
	onPath, err := exec.LookPath("coordinator")
	if err != nil {
		return []Finding{finding(Warning, addToPath(filepath.Dir(own)),
			"The coordinator is not on PATH, so a host cannot start it by its name. This program is %s.", own)}
	}
	if sameFile(own, onPath) {
		return []Finding{ok("A host that starts the coordinator by its name starts this program, %s.", onPath)}
	}
	version, err := programVersion(ctx, onPath)
	switch {
	case err != nil:
		return []Finding{finding(Problem, addToPath(filepath.Dir(own)),
			"A host that starts the coordinator by its name starts %s, which does not report its version: %v.", onPath, err)}
	case !sameRelease(version, x.Version):
		return []Finding{finding(Warning, addToPath(filepath.Dir(own)),
			"A host that starts the coordinator by its name starts %s, version %s. This program is %s, version %s.", onPath, version, own, x.Version)}
	}
	return []Finding{ok("A host that starts the coordinator by its name starts %s, version %s. This program is %s.", onPath, version, own)}
}

func addToPath(dir string) string {
	if runtime.GOOS == "windows" {
		return fmt.Sprintf(`add %s to the front of Path in the environment variables of your account`, dir)
	}
	return fmt.Sprintf(`export PATH=%s:"$PATH"`, terminal.Word(dir))
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
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

// checkVersions compares this program's version with those of the windows, and without a
// window with those of the installed extensions.
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
			update = "update the extension Browser Coordinator in VS Code and run the command “Developer: Reload Window”, or update this program"
		case server.Kind == "terminal" && server.Name == "coordinator":
			update = "end `coordinator window` there and start it again"
		default:
			continue // a program with versions of its own
		}
		if !sameRelease(server.Version, x.Version) {
			found = append(found, finding(Warning, update, "The window %s has version %s, this program %s.", label(v), server.Version, x.Version))
		}
	}
	if len(found) > 0 {
		return found
	}
	installed := installedExtensions()
	for _, e := range installed {
		if !sameRelease(e.version, x.Version) {
			found = append(found, finding(Warning, "update the extension Browser Coordinator in VS Code, or this program",
				"The extension in %s has version %s, this program %s.", e.folder, e.version, x.Version))
		}
	}
	switch {
	case len(found) > 0:
		return found
	case len(installed) > 0:
		return []Finding{ok("This program and the extension in %s have version %s.", installed[0].folder, numbers(x.Version))}
	}
	return []Finding{ok("This program has version %s. No open window and no installed extension has another one.", x.Version)}
}

// extension is the folder of an installed extension.
type extension struct{ folder, version string }

// extensionFolders are where editors keep extensions, below the home folder.
var extensionFolders = []string{
	".vscode", ".vscode-insiders", ".vscode-oss", ".vscode-server", ".vscode-server-insiders",
	".cursor", ".cursor-server", ".windsurf", ".windsurf-server",
}

// installedExtensions are the newest versions of the extension, one for each editor. An
// editor removes older ones only later.
func installedExtensions() (all []extension) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	const prefix = "browser-coordinator.browser-coordinator-"
	for _, editor := range extensionFolders {
		folders, _ := filepath.Glob(filepath.Join(home, editor, "extensions", prefix+"*"))
		if len(folders) == 0 {
			continue
		}
		newest := slices.MaxFunc(folders, func(a, b string) int { return modified(a).Compare(modified(b)) })
		all = append(all, extension{newest, strings.TrimPrefix(filepath.Base(newest), prefix)})
	}
	return all
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// label names a window for the user.
func label(v vscodeipc.Verdict) string {
	if v.Hello == nil || v.Hello.Workspace == nil {
		return string(v.Address)
	}
	return *v.Hello.Workspace
}
