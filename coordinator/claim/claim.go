// Package claim locks pages, so that the agents of one user do not work in the same tab,
// in whichever programs they run.
//
//	release, err := pages.Claim(id)  // errors.Is(err, claim.ErrTaken): another agent works there
package claim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/zeebo/xxh3"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/internal/trusted"
)

// ErrTaken reports a page that another agent works in.
var ErrTaken = errors.New("another agent works in this tab")

// Pages are locks on files, one for each page that an agent of this user works in.
// The system releases them when the program ends, however it ends.
type Pages struct {
	dir string // empty: no folder can be used, and every claim succeeds
	log *slog.Logger
}

// NewPages removes the files of killed programs. Without a folder for locks every claim
// succeeds.
func NewPages(log *slog.Logger) *Pages {
	dir, err := endpoint.StateDir()
	if err != nil {
		log.Warn("agents of other programs may work in the same tabs, and no stable CDP address is served: "+
			"set XDG_STATE_HOME to a folder that can be written", "error", err)
		return &Pages{log: log}
	}
	p := &Pages{dir, log}
	if err := p.clean(); err != nil {
		log.Warn("locks of programs that have ended stay in the folder", "folder", dir, "error", err)
	}
	return p
}

// file is that of a page's lock. Its name is a hash: a browser chooses its pages' ids.
func (p *Pages) file(page string) *flock.Flock {
	return newLock(filepath.Join(p.dir, fmt.Sprintf("page-%016x.lock", xxh3.HashString(page))))
}

// cleaning is held alone by the program that removes files, and shared by those that claim: a file
// that is only looked at must not seem to be an agent's.
func (p *Pages) cleaning() *flock.Flock { return newLock(filepath.Join(p.dir, "pages.lock")) }

func newLock(path string) *flock.Flock { return flock.New(path, flock.SetPermissions(0o600)) }

// clean removes the files that no program has locked. Where others claim at this moment, they stay
// for the next time.
func (p *Pages) clean() error {
	guard := p.cleaning()
	alone, err := trusted.Lock(guard, guard.TryLock)
	if err != nil || !alone {
		return err
	}
	files, err := filepath.Glob(filepath.Join(p.dir, "page-*.lock"))
	for _, path := range files {
		lock := newLock(path)
		free, lockErr := trusted.Lock(lock, lock.TryLock)
		if free {
			lockErr = remove(lock)
		}
		err = errors.Join(err, lockErr)
	}
	return errors.Join(err, guard.Unlock())
}

// cleanTimeout bounds the wait for another program that removes files.
const cleanTimeout = 2 * time.Second

// Claim locks a page, by its id, until release is called. The error is ErrTaken, or why the lock
// cannot be had.
func (p *Pages) Claim(page string) (release func(), err error) {
	if p.dir == "" {
		return func() {}, nil
	}
	guard := p.cleaning()
	ctx, cancel := context.WithTimeout(context.Background(), cleanTimeout)
	defer cancel()
	_, err = trusted.Lock(guard, func() (bool, error) { return guard.TryRLockContext(ctx, time.Millisecond) })
	if err != nil {
		return nil, fmt.Errorf("lock the tab: %w", err)
	}
	lock := p.file(page)
	free, err := trusted.Lock(lock, lock.TryLock)
	err = errors.Join(err, guard.Unlock())
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock the tab: %w", err), lock.Unlock())
	case !free:
		return nil, ErrTaken
	}
	return func() {
		if err := remove(lock); err != nil {
			p.log.Warn("the lock of a tab cannot be released, so no other agent works there until this program ends",
				"file", lock.Path(), "error", err)
		}
	}, nil
}

// remove releases a lock, and removes its file while it is locked, so that no other program's file is
// removed.
func remove(lock *flock.Flock) error {
	removeErr := os.Remove(lock.Path())
	err := lock.Unlock()
	if removeErr != nil { // Windows removes no open file
		_ = os.Remove(lock.Path())
	}
	return err
}
