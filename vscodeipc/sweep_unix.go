//go:build unix

package vscodeipc

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"time"
)

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// lockBatch is how many sockets are deleted under one hold of the lock, so that
// a window that binds waits for milliseconds only.
const lockBatch = 32

// sweep deletes the stale addresses and notes it in the verdicts.
func sweep(ctx context.Context, verdicts []Verdict) error {
	byDir := map[string][]*Verdict{}
	for i := range verdicts {
		if v := &verdicts[i]; v.Verdict == Stale {
			dir := filepath.Dir(string(v.Address))
			byDir[dir] = append(byDir[dir], v)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var faults []error
	for dir, stale := range byDir {
		for len(stale) > 0 {
			batch := stale[:min(lockBatch, len(stale))]
			stale = stale[len(batch):]
			if err := sweepBatch(ctx, dir, batch); err != nil {
				faults = append(faults, err)
				break
			}
		}
	}
	return errors.Join(faults...)
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
