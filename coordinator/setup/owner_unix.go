//go:build unix

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner and the group of the one that it replaces. They
// differ under sudo, and in a folder that users share.
func keepOwner(file string, replaced fs.FileInfo) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	is, want := info.Sys().(*syscall.Stat_t), replaced.Sys().(*syscall.Stat_t)
	if is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return os.Chown(file, int(want.Uid), int(want.Gid))
}
