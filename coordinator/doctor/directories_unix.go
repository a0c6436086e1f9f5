//go:build unix

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/internal/fspath"
	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/trusted"
	"browser-coordinator/vscodeipc"
)

const directoryGroup = "Directories"

var directoryChecks = []check{
	{"sockets", directoryGroup, "the directories of the windows' sockets", checkSocketDirs},
	{"state", directoryGroup, "the directory of ports and tokens", checkStateDir},
}

func checkSocketDirs(context.Context, *examination) []Finding {
	dirs, err := vscodeipc.Dirs()
	if err != nil {
		return []Finding{finding(Problem, "set HOME to your home folder",
			"The directory of the sockets is unknown: %v.", err)}
	}
	var found []Finding
	for i, d := range dirs {
		for _, path := range slices.Compact([]string{d.Path, d.Sockets}) {
			if path != "" && (i == 0 && path == d.Path || fspath.Exists(path)) {
				found = append(found, checkDir(path, "XDG_DATA_HOME", useAlone))
			}
		}
	}
	return append(found, checkSocketPath(dirs[0])...)
}

// checkSocketPath examines the length of the path of a socket, which the system limits.
func checkSocketPath(d vscodeipc.Dir) []Finding {
	short := filepath.Join(d.Path, ".short")
	switch {
	case !d.Long:
		return nil
	case d.Sockets != "":
		return []Finding{ok("%s is too long for the path of a socket: its windows listen in %s, which the file %s "+
			"names.", d.Path, d.Sockets, short)}
	case fspath.Exists(short):
		if refused, is := errors.AsType[*trusted.Error](d.Err); is && refused.Path == d.Path {
			return nil // the finding about the directory is enough: the file in it may be good
		} else if is && refused.OfMode && refused.Path != short {
			return []Finding{checkDir(refused.Path, "XDG_DATA_HOME", useAlone)}
		}
		const text = "%s is too long for the path of a socket, and the short directory that %s names cannot be used: %v."
		if info, err := os.Lstat(short); err != nil || trusted.Check(short, info, trusted.OwnFile) != nil {
			return []Finding{finding(Warning, "set XDG_DATA_HOME to a folder with a shorter path, for windows and agents "+
				"alike", text, d.Path, short, d.Err)}
		}
		f := finding(Warning, fmt.Sprintf("rm %s; then run the command “Developer: Reload Window” in open windows",
			terminal.Word(short)), text, d.Path, short, d.Err)
		f.repair = func(context.Context) (string, error) {
			if err := os.Remove(short); err != nil {
				return "", err
			}
			return "Removed " + short + ". Run the command “Developer: Reload Window” in open windows.", nil
		}
		return []Finding{f}
	}
	return []Finding{finding(Warning, "set XDG_DATA_HOME to a folder with a shorter path, for windows and agents "+
		"alike, or unset it",
		"%s is too long for the path of a socket. The first window will listen in a short directory instead.", d.Path)}
}

func checkStateDir(context.Context, *examination) []Finding {
	if err := statedir.CheckHome(); err != nil {
		return []Finding{finding(Problem, "set HOME to your home folder", "%v.", err)}
	}
	return []Finding{checkDir(statedir.Path(), "XDG_STATE_HOME", useWithParents)}
}

// checkDir examines a directory of ours, by the rule of the programs that use it. The
// variable decides where it is.
func checkDir(dir, variable string, use func(dir string) error) Finding {
	err := use(dir)
	refused, isRefused := errors.AsType[*trusted.Error](err)
	switch {
	case err == nil:
		return ok("%s is yours alone (mode 0700).", dir)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return checkParent(dir, variable)
	case !isRefused:
		return unknown("%v.", err)
	case refused.Fix == "":
		return finding(Problem, fmt.Sprintf("set %s to a folder that only you can write to", variable), "%s %s.",
			refused.Path, refused.Reason)
	case !refused.OfMode:
		return finding(Problem, fmt.Sprintf("set %s to a folder that only you can write to; or run: %s", variable,
			refused.Fix), "%s %s.", refused.Path, refused.Reason)
	}
	f := finding(Problem, refused.Fix, "%s %s.", refused.Path, refused.Reason)
	f.repair = func(context.Context) (string, error) { return closeToOthers(refused.Path) }
	return f
}

// useAlone is for directories whose parents may have any mode.
func useAlone(dir string) error { return trusted.Folder(dir, trusted.PrivateFolder) }

// useWithParents is for those whose parents count.
func useWithParents(dir string) error {
	return trusted.FolderAndParents(dir, trusted.PrivateFolder)
}

// checkParent examines where a directory would be made.
func checkParent(dir, variable string) Finding {
	parent := filepath.Dir(dir)
	for !fspath.Exists(parent) && parent != filepath.Dir(parent) {
		parent = filepath.Dir(parent)
	}
	if info, err := os.Stat(parent); err != nil || !info.IsDir() || unix.Access(parent, unix.W_OK|unix.X_OK) != nil {
		return finding(Problem, "set "+variable+" to a folder that you can write to",
			"%s does not exist and cannot be made: you cannot write to %s.", dir, parent)
	}
	return ok("%s does not exist yet. It is made when it is needed.", dir)
}

// closeToOthers makes a directory private. It follows no link: another user may have put
// one there.
func closeToOthers(dir string) (string, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := f.Chmod(0o700); err != nil {
		return "", err
	}
	return fmt.Sprintf("Set the mode 0700 of %s.", dir), nil
}
