//go:build unix

package trusted

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	owner, own := int(st.Uid), IsOwn(int(st.Uid))
	if !own && !(want.byRoot && owner == 0) {
		reason := fmt.Sprintf("belongs to uid %d, not to uid %d", owner, os.Getuid())
		if owner == nobody {
			reason = fmt.Sprintf("belongs to nobody (uid %d), as what is of a user whom this system does not know", owner)
		}
		e := &Error{Path: path, Reason: reason, Advice: removal}
		if folder, err := os.Stat(filepath.Dir(path)); err == nil && isOwn(folder) {
			e.Advice = "it is in a folder of yours: look at it, then move it away"
		}
		return e
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
	refused := &Error{Path: path, Advice: "ask its owner to take these rights away", OfMode: true}
	if own {
		refused.Fix = want.chmod + " " + word(path)
	}
	switch {
	case open != 0 && want.others&0o040 == 0:
		refused.Reason = fmt.Sprintf("can be changed by other users (mode %04o)", perm)
		return refused
	case open != 0:
		refused.Reason = fmt.Sprintf("is open to other users (mode %04o)", perm)
		return refused
	case want.chmod != "" && own && perm&needed != needed:
		return &Error{Path: path, Reason: fmt.Sprintf("cannot be used by you (mode %04o)", perm),
			Fix: "chmod u=rwX " + word(path), OfMode: true}
	}
	return nil
}

// IsOwn reports whether a user is the one of this process. Nobody is: a user namespace shows
// every user that it does not map under that number.
func IsOwn(uid int) bool { return uid == os.Getuid() && uid != nobody }

func isOwn(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && IsOwn(int(st.Uid))
}

// removal is what to do about something of another user. This program does not know what it is.
const removal = "use another folder, or ask its owner to remove it"

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
	owner := int(st.Uid)
	if !IsOwn(owner) && owner != 0 && !(isUnmapped(owner) && isOfSystem(path)) {
		e := &Error{Path: path, Reason: fmt.Sprintf("belongs to uid %d, who can replace what is below it", owner),
			Advice: "use a folder that is below none of another user's"}
		if !info.IsDir() {
			e.Reason = fmt.Sprintf("is a link of uid %d, who can let it lead elsewhere", owner)
		}
		return e
	}
	perm := info.Mode().Perm()
	hasOthers := perm&0o002 != 0 || perm&0o020 != 0 && !isOwnGroup(int(st.Gid))
	if info.IsDir() && hasOthers && info.Mode()&fs.ModeSticky == 0 {
		e := &Error{Path: path, Reason: fmt.Sprintf("can be changed by other users (mode %04o), who can replace "+
			"what is below it", perm), Advice: "use another folder, or ask its owner to take these rights away"}
		if IsOwn(owner) {
			e.Fix = "chmod go-w " + word(path)
		}
		return e
	}
	return nil
}

// isOfSystem reports a folder, or a link, that only root can have made: the root, what is in
// it, and the folders of homes and users deeper down.
func isOfSystem(path string) bool {
	return filepath.Dir(path) == "/" || slices.Contains([]string{"/run/user", "/var/home", "/var/tmp", "/usr/home"}, path)
}
