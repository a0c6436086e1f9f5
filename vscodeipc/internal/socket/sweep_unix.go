//go:build unix

package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
)

// lockBatch is how many sockets are deleted per acquisition of the lock, so that a
// window that binds waits only for milliseconds.
const lockBatch = 32

// RemoveStale deletes the addresses that are still stale, and what crashed windows left
// in their directories, until ctx ends. It returns why it kept an address.
func RemoveStale(ctx context.Context, stale []Address) (kept map[Address]error, err error) {
	kept = map[Address]error{}
	byDir := map[string][]Address{}
	for _, a := range stale {
		dir := filepath.Dir(string(a))
		byDir[dir] = append(byDir[dir], a)
	}
	var faults []error
	for dir, addresses := range byDir {
		for len(addresses) > 0 {
			lock, err := LockDir(ctx, dir)
			if err != nil {
				for _, a := range addresses {
					kept[a] = fmt.Errorf("not deleted: %w", err)
				}
				faults = append(faults, err)
				break
			}
			n := min(len(addresses), lockBatch)
			for _, a := range addresses[:n] {
				if err := deleteStale(ctx, string(a)); err != nil {
					kept[a] = err
				}
			}
			lock.Unlock()
			addresses = addresses[n:]
		}
	}
	for _, dir := range slices.Compact(slices.Concat(dataDirs(), searchDirs())) {
		if err := sweepLeftovers(ctx, dir); err != nil {
			faults = append(faults, err)
		}
	}
	return kept, errors.Join(faults...)
}

// leftoverPattern matches the temporary names of files while they are bound or deleted.
// The number is the pid of the process.
var leftoverPattern = regexp.MustCompile(`^\.(?:bind|gone)-([0-9]+)-[0-9a-f]{8}$`)

// sweepLeftovers deletes the temporary files of processes that have ended.
func sweepLeftovers(ctx context.Context, dir string) error {
	if checkDir(dir) != nil {
		return nil // absent, or reported by List
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		m := leftoverPattern.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		pid, err := strconv.Atoi(m[1])
		info, infoErr := e.Info()
		if err != nil || infoErr != nil || !isLeft(pid, dir, info) {
			continue
		}
		lock, err := LockDir(ctx, dir)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			err = removeNewSocket(path)
		} else {
			err = os.Remove(path)
		}
		lock.Unlock()
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
	return nil
}
