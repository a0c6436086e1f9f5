// Package pagelock has locks of pages over all programs of this user: locks on files, which the
// system releases when their program ends, however it ends.
//
//	release, err := pagelock.Capture.Acquire(ctx, targetID) // one capture with a clip at a time
//	release, free, err := pagelock.Agent.TryAs(targetID, text) // one agent, whose text others read
//
// A page is named by its CDP target id, which is the same in every program.
package pagelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/zeebo/xxh3"

	"browser-coordinator/internal/statedir"
	"browser-coordinator/internal/trusted"
)

// Kind is what one holder at a time does with a page. It begins the names of its files.
type Kind string

const (
	// Agent is held by the agent that works in the page.
	Agent Kind = "page"
	// Capture is held while Page.captureScreenshot runs with a clip, or beyond the viewport, until
	// the browser has answered: two of them at once, or one whose session ends, leave the page at
	// the clip's size.
	Capture Kind = "capture"
	// Setting has any number of holders, each of which has published what it has set there.
	Setting Kind = "set"
)

// retryInterval is between two tries to take a lock. The system has no event for its release.
const retryInterval = time.Millisecond

// ErrNoFolder reports that there is no folder for locks.
var ErrNoFolder = errors.New("no folder for locks of pages")

// Acquire waits until nobody else holds the page's lock.
func (k Kind) Acquire(ctx context.Context, page string) (release func() error, err error) {
	lock, err := k.wait(ctx, page, (*flock.Flock).TryLockContext)
	return func() error { return remove(lock) }, err
}

// Share waits until nobody holds the page's lock by Acquire, and keeps it from others who want it so. Any
// number share it.
func (k Kind) Share(ctx context.Context, page string) (release func() error, err error) {
	lock, err := k.wait(ctx, page, (*flock.Flock).TryRLockContext)
	return func() error { return lock.Unlock() }, err // the file stays: others may share it
}

func (k Kind) wait(
	ctx context.Context, page string, try func(*flock.Flock, context.Context, time.Duration) (bool, error),
) (*flock.Flock, error) {
	lock, err := k.lock(page, "")
	if err != nil {
		return nil, err
	}
	_, err = trusted.Lock(lock, func() (bool, error) { return try(lock, ctx, retryInterval) })
	if err != nil {
		return nil, fmt.Errorf("lock the page: %w", errors.Join(err, lock.Unlock()))
	}
	return lock, nil
}

// Try takes the page's lock if it is free.
func (k Kind) Try(page string) (release func() error, free bool, err error) {
	return k.TryAs(page, nil)
}

// TryAs is Try by a holder who gives others a text, which Holder reads.
func (k Kind) TryAs(page string, text []byte) (release func() error, free bool, err error) {
	lock, err := k.lock(page, "")
	if err != nil {
		return nil, false, err
	}
	return try(lock, text)
}

func try(lock *flock.Flock, text []byte) (release func() error, free bool, err error) {
	guard, err := cleaning()
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanTimeout)
	defer cancel()
	_, err = trusted.Lock(guard, func() (bool, error) { return guard.TryRLockContext(ctx, retryInterval) })
	if err != nil {
		return nil, false, fmt.Errorf("lock the page: %w", err)
	}
	free, err = trusted.Lock(lock, lock.TryLock)
	err = errors.Join(err, guard.Unlock())
	if err == nil && free {
		err = write(lock.Path(), text)
	}
	if err != nil {
		return nil, false, fmt.Errorf("lock the page: %w", errors.Join(err, lock.Unlock()))
	}
	return func() error { return remove(lock) }, free, nil
}

// cleanTimeout bounds the wait for another program that removes files.
const cleanTimeout = 2 * time.Second

// lock is that of a page.
func (k Kind) lock(page, suffix string) (*flock.Flock, error) { return newLock(k.name(page, suffix)) }

// name is that of a lock's file. It is a hash: a browser chooses its pages' ids.
func (k Kind) name(page, suffix string) string {
	return fmt.Sprintf("%s-%016x%s.lock", k, xxh3.HashString(page), suffix)
}

// cleaning is held alone by the program that removes files, and shared by those that try: a file
// that is only looked at must not seem to be held.
func cleaning() (*flock.Flock, error) { return newLock("pages.lock") }

func newLock(name string) (*flock.Flock, error) {
	dir, err := statedir.Make()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoFolder, err)
	}
	return flock.New(filepath.Join(dir, name), flock.SetPermissions(0o600)), nil
}

// Clean removes the files of killed programs. Where others try to lock at this moment, the files
// stay for the next time.
func Clean() error {
	guard, err := cleaning()
	if err != nil {
		return err
	}
	alone, err := trusted.Lock(guard, guard.TryLock)
	if err != nil || !alone {
		return err
	}
	for _, kind := range []Kind{Agent, Capture, Setting} {
		err = errors.Join(err, kind.clean())
	}
	return errors.Join(err, guard.Unlock())
}

func (k Kind) clean() error {
	files, err := filepath.Glob(filepath.Join(statedir.Path(), string(k)+"-*.lock"))
	for _, path := range files {
		lock := flock.New(path, flock.SetPermissions(0o600))
		free, lockErr := trusted.Lock(lock, lock.TryLock)
		if free {
			lockErr = remove(lock)
		}
		err = errors.Join(err, lockErr)
	}
	return err
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
