//go:build unix

package vscodeipc

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
)

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// lockBatch is how many sockets are deleted under one hold of the lock, so that
// a window that binds waits for milliseconds only.
const lockBatch = 32

// sweep deletes the stale addresses until ctx ends, and notes it in the verdicts.
func sweep(ctx context.Context, verdicts []Verdict) error {
	byDir := map[string][]*Verdict{}
	for i := range verdicts {
		if v := &verdicts[i]; v.Verdict == Stale {
			dir := filepath.Dir(string(v.Address))
			byDir[dir] = append(byDir[dir], v)
		}
	}
	var faults []error
	for dir, stale := range byDir {
		for len(stale) > 0 {
			batch := stale[:min(lockBatch, len(stale))]
			if err := sweepBatch(ctx, dir, batch); err != nil {
				for _, v := range stale {
					v.Reason += "; not deleted: " + err.Error()
				}
				faults = append(faults, err)
				break
			}
			stale = stale[len(batch):]
		}
	}
	for _, dir := range slices.Compact(slices.Concat(dataDirs(), SearchDirs())) {
		if err := sweepLeftovers(ctx, dir); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// leftoverPattern is the names under which files stand for the moment of
// binding or deleting; the number is the pid of who did it.
var leftoverPattern = regexp.MustCompile(`^\.(?:bind|gone)-([0-9]+)-[0-9a-f]{8}$`)

// sweepLeftovers deletes what processes left that died in that moment.
func sweepLeftovers(ctx context.Context, dir string) error {
	if checkDir(dir) != nil {
		return nil // not there, or List has told of it
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
		lock, err := lockDir(ctx, dir)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			err = removeNewSocket(path)
		} else {
			err = os.Remove(path)
		}
		lock.unlock()
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
	return nil
}

func sweepBatch(ctx context.Context, dir string, batch []*Verdict) error {
	lock, err := lockDir(ctx, dir)
	if err != nil {
		return err
	}
	defer lock.unlock()
	for _, v := range batch {
		deleted, err := deleteStale(ctx, string(v.Address))
		v.Deleted = deleted
		if err != nil {
			v.Reason += "; " + err.Error()
		}
	}
	return nil
}
