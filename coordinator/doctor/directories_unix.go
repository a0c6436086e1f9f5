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
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/coordinator/terminal"
	"browser-coordinator/vscodeipc"
)

var directoryChecks = slices.Concat([]check{
	{"sockets", directoryGroup, "the directories of the windows' sockets", checkSocketDirs},
	{"socket-path", directoryGroup, "the length of the sockets' paths", checkSocketPath},
	{"state", directoryGroup, "the directory of ports and tokens", checkStateDir},
	{"cache", directoryGroup, "the directory of caches", checkCacheDir},
}, environmentChecks)

func checkSocketDirs(context.Context, *examination) []Finding {
	dirs, err := vscodeipc.Dirs()
	if err != nil {
		return []Finding{finding(Problem, "set HOME to your home folder", "The directory of the sockets is unknown: %v.", err)}
	}
	var found []Finding
	for i, d := range dirs {
		for _, path := range slices.Compact([]string{d.Path, d.Sockets}) {
			if path != "" && (i == 0 && path == d.Path || exists(path)) {
				found = append(found, checkDir(path)...)
			}
		}
	}
	return found
}

func checkSocketPath(context.Context, *examination) []Finding {
	dirs, err := vscodeipc.Dirs()
	if err != nil {
		return nil // the check of the sockets reports it
	}
	d := dirs[0]
	short := filepath.Join(d.Path, ".short")
	switch {
	case !d.Long:
		return []Finding{ok("The paths of the sockets in %s are short enough.", d.Path)}
	case d.Sockets != "":
		return []Finding{ok("%s is too long for the path of a socket: its windows listen in %s, which the file %s names.", d.Path, d.Sockets, short)}
	case exists(short):
		return []Finding{finding(Warning, fmt.Sprintf("rm %s; then run the command “Developer: Reload Window” in open windows", terminal.Word(short)),
			"%s is too long for the path of a socket, and the short directory that %s names cannot be used: %v.", d.Path, short, d.Err)}
	}
	return []Finding{finding(Warning, "set XDG_DATA_HOME to a folder with a shorter path, for windows and agents alike, or unset it",
		"%s is too long for the path of a socket. The first window will listen in a short directory instead.", d.Path)}
}

func checkStateDir(context.Context, *examination) []Finding {
	if err := endpoint.CheckStateHome(); err != nil {
		return []Finding{finding(Problem, "set HOME to your home folder", "%v.", err)}
	}
	found := checkDir(behindLink(endpoint.StatePath()))
	tokens, _ := filepath.Glob(filepath.Join(endpoint.StatePath(), "endpoint-*.token"))
	tokens = slices.DeleteFunc(tokens, func(token string) bool {
		info, err := os.Stat(token)
		return err == nil && info.Mode().Perm()&0o077 == 0
	})
	for i, f := range found {
		if f.Verdict != Problem || f.repair == nil || len(tokens) == 0 {
			continue
		}
		// New tokens change addresses, so the user decides on them.
		const renew = "coordinator clean --all"
		found[i].Text += " They may have read the tokens in it."
		found[i].Fix += " && " + renew
		found[i].repair = func(ctx context.Context) (string, error) {
			done, err := f.repair(ctx)
			if done != "" {
				done += " Others may have read the tokens in it; for new ones run: " + renew
			}
			return done, err
		}
	}
	return found
}

func checkCacheDir(_ context.Context, x *examination) []Finding { return checkDir(behindLink(x.Cache)) }

// behindLink is the directory that a link leads to: the state and the caches may be there.
func behindLink(dir string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}

// checkDir examines a directory of ours and the files in it, which only the user may use.
func checkDir(dir string) []Finding {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return checkParent(dir)
	case err != nil:
		return []Finding{unknown("%v.", err)}
	case !info.IsDir():
		return []Finding{finding(Problem, fmt.Sprintf("mv %s %s", terminal.Word(dir), terminal.Word(dir+".old")), "%s is not a directory.", dir)}
	case !isOwn(info) && isShared(filepath.Dir(dir)): // who made it may still change what is in it
		return []Finding{finding(Problem, "set "+variableOf(dir)+" to a folder that only you can write to",
			"%s belongs to another user, and others can write to %s.", dir, filepath.Dir(dir))}
	case !isOwn(info):
		return []Finding{finding(Problem, fmt.Sprintf("sudo chown -R %d %s", os.Getuid(), terminal.Word(dir)), "%s belongs to another user.", dir)}
	case info.Mode().Perm()&0o077 != 0:
		return []Finding{{
			Verdict: Problem,
			Text:    fmt.Sprintf("Other users may enter %s, which has mode %04o.", dir, info.Mode().Perm()),
			Fix:     "chmod 700 " + terminal.Word(dir),
			repair:  func(ctx context.Context) (string, error) { return closeWithFiles(ctx, dir) },
		}}
	case info.Mode().Perm()&0o700 != 0o700:
		return []Finding{finding(Problem, "chmod 700 "+terminal.Word(dir), "You cannot use %s, which has mode %04o.", dir, info.Mode().Perm())}
	}
	return checkFiles(dir)
}

// closeWithFiles sets the mode of a directory of ours and of the files in it.
func closeWithFiles(ctx context.Context, dir string) (string, error) {
	done, err := closeToOthers([]string{dir}, 0o700)
	if err != nil {
		return done, err
	}
	for _, f := range checkFiles(dir) {
		if f.repair == nil {
			continue
		}
		if _, err = f.repair(ctx); err == nil {
			done = strings.TrimSuffix(done, ".") + " and 0600 of the files in it."
		}
	}
	return done, err
}

// checkParent examines where a directory would be made.
func checkParent(dir string) []Finding {
	parent := filepath.Dir(dir)
	for !exists(parent) && parent != filepath.Dir(parent) {
		parent = filepath.Dir(parent)
	}
	info, err := os.Stat(parent)
	switch {
	case err != nil:
		return []Finding{unknown("%v.", err)}
	case info.IsDir() && unix.Access(parent, unix.W_OK|unix.X_OK) == nil:
		return []Finding{ok("%s does not exist yet. It is made when it is needed.", dir)}
	}
	return []Finding{finding(Problem, "set "+variableOf(dir)+" to a folder that you can write to",
		"%s does not exist and cannot be made: you cannot write to %s.", dir, parent)}
}

// variableOf names the variable that decides where a directory is.
func variableOf(dir string) string {
	for _, name := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		if value := os.Getenv(name); filepath.IsAbs(value) && strings.HasPrefix(dir, filepath.Clean(value)+"/") {
			return name
		}
	}
	return "HOME"
}

// checkFiles examines the modes of the files in a directory of ours.
func checkFiles(dir string) []Finding {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []Finding{unknown("%v.", err)}
	}
	var open []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !(info.Mode().IsRegular() || info.Mode().Type() == fs.ModeSocket) || !isOwn(info) {
			continue
		}
		if info.Mode().Perm()&0o077 != 0 {
			open = append(open, filepath.Join(dir, e.Name()))
		}
	}
	if len(open) == 0 {
		return []Finding{ok("%s is yours alone (mode 0700).", dir)}
	}
	words := make([]string, len(open))
	for i, path := range open {
		words[i] = terminal.Word(path)
	}
	return []Finding{{
		Verdict: Warning,
		Text:    fmt.Sprintf("%s not private by %s own mode, only by that of the directory: %s.", terminal.Count(len(open), "file is", "files are"), map[bool]string{true: "its", false: "their"}[len(open) == 1], strings.Join(open, ", ")),
		Fix:     "chmod 600 " + strings.Join(words, " "),
		repair:  func(context.Context) (string, error) { return closeToOthers(open, 0o600) },
	}}
}

// closeToOthers sets a mode. It follows no link: another user may have put one there.
func closeToOthers(paths []string, mode fs.FileMode) (string, error) {
	var done []string
	var faults []error
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err == nil && (info.Mode()&fs.ModeSymlink != 0 || !isOwn(info)) {
			err = fmt.Errorf("%s was replaced meanwhile", path)
		}
		if err == nil {
			err = unix.Fchmodat(unix.AT_FDCWD, path, uint32(mode), 0)
		}
		if err == nil {
			done = append(done, path)
		}
		faults = append(faults, err)
	}
	if len(done) == 0 {
		return "", errors.Join(faults...)
	}
	return fmt.Sprintf("Set the mode %04o of %s.", mode, strings.Join(done, ", ")), errors.Join(faults...)
}

// isShared reports whether others can write to a directory, as to /tmp.
func isShared(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o002 != 0
}

func isOwn(info fs.FileInfo) bool {
	st, known := info.Sys().(*syscall.Stat_t)
	return known && int(st.Uid) == os.Getuid()
}
