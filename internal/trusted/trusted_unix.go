//go:build unix

package trusted

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// openNamed opens a file, also through links. It does not wait for the writer of a named pipe.
func openNamed(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func openHere(path string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, mode)
}

// checkOwner checks whose something is, and what others may do with it.
func checkOwner(path string, info fs.FileInfo, want Kind) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the system does not report who owns %s", path)
	}
	owner, own := int(st.Uid), os.Getuid()
	if owner != own && !(want.byRoot && owner == 0) {
		return &Error{Path: path, Reason: fmt.Sprintf("belongs to uid %d, not to uid %d", owner, own),
			Fix: removal(path, info)}
	}
	perm := info.Mode().Perm()
	open := perm & want.others
	if want.sticky && info.Mode()&fs.ModeSticky != 0 {
		open = 0
	}
	if want.others&0o040 == 0 && isOwnGroup(int(st.Gid)) {
		open &^= 0o020
	}
	needed := fs.FileMode(0o400)
	if info.IsDir() {
		needed = 0o700
	}
	switch {
	case open != 0 && want.others&0o040 == 0:
		return &Error{Path: path, Reason: fmt.Sprintf("can be changed by other users (mode %04o)", perm),
			Fix: want.chmod + " " + word(path), OfMode: true}
	case open != 0:
		return &Error{Path: path, Reason: fmt.Sprintf("is open to other users (mode %04o)", perm),
			Fix: want.chmod + " " + word(path), OfMode: true}
	case want.chmod != "" && owner == own && perm&needed != needed:
		return &Error{Path: path, Reason: fmt.Sprintf("cannot be used by you (mode %04o)", perm),
			Fix: "chmod u=rwX " + word(path), OfMode: true}
	}
	return nil
}

// removal is the command that removes what another user has made. In a folder such as
// /tmp only root can. What root has made, as by sudo, gets its owner instead.
func removal(path string, info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid == 0 {
		return fmt.Sprintf("sudo chown -R %d %s", os.Getuid(), word(path))
	}
	command := "rm "
	if info.IsDir() {
		command = "rm -r "
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err == nil {
		if st, ok := dir.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
			command = "sudo " + command
		}
	}
	return command + word(path)
}

// isOwnGroup reports a group without other members: root's, and the one that Linux gives
// each user, which has the user's number.
func isOwnGroup(gid int) bool { return gid == 0 || gid == os.Getgid() && gid == os.Getuid() }

// mostLinks bounds the links in a path, as the system does.
const mostLinks = 40

// Parents checks the folders above a path: another user who may write to one of them
// could replace what is below it at any time. In a sticky folder, such as /tmp, only the
// owner can. A link on the way is followed if no other user can change it.
func Parents(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	steps := strings.Split(strings.Trim(filepath.Dir(path), "/"), "/")
	folder := "/"
	for links := 0; ; {
		info, err := os.Lstat(folder)
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > mostLinks {
				return &os.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
			}
			if err := checkParent(folder, info); err != nil {
				return err
			}
			target, err := os.Readlink(folder)
			if err != nil {
				return err
			}
			if folder = filepath.Dir(folder); filepath.IsAbs(target) {
				folder = "/"
			}
			steps = append(strings.Split(target, "/"), steps...)
		case !info.IsDir():
			return &os.PathError{Op: "open", Path: folder, Err: syscall.ENOTDIR}
		default:
			if err := checkParent(folder, info); err != nil {
				return err
			}
		}
		for len(steps) > 0 && (steps[0] == "" || steps[0] == ".") {
			steps = steps[1:]
		}
		if len(steps) == 0 {
			return nil
		}
		folder, steps = filepath.Join(folder, steps[0]), steps[1:]
	}
}

// checkParent checks a folder above something, or a link on the way to it. Whoever owns
// it can write to it, whatever its mode is.
func checkParent(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the system does not report who owns %s", path)
	}
	if owner := int(st.Uid); owner != os.Getuid() && owner != 0 && !isUnmapped(owner) {
		e := &Error{Path: path, Reason: fmt.Sprintf("belongs to uid %d, who can replace what is below it", owner),
			Fix: fmt.Sprintf("sudo chown %d %s", os.Getuid(), word(path))}
		if !info.IsDir() {
			e.Reason = fmt.Sprintf("is a link of uid %d, who can let it lead elsewhere", owner)
			e.Fix = removal(path, info)
		}
		return e
	}
	perm := info.Mode().Perm()
	hasOthers := perm&0o002 != 0 || perm&0o020 != 0 && !isOwnGroup(int(st.Gid))
	if info.IsDir() && hasOthers && info.Mode()&fs.ModeSticky == 0 {
		return &Error{Path: path, Reason: fmt.Sprintf("can be changed by other users (mode %04o), who can replace "+
			"what is below it", perm), Fix: "chmod go-w " + word(path)}
	}
	return nil
}
