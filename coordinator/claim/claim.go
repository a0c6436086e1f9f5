// Package claim locks pages, so that the agents of one user do not work in the same tab,
// in whichever programs they run.
//
//	release, err := pages.Claim(id)  // errors.Is(err, claim.ErrTaken): another agent works there
package claim

import (
	"errors"
	"fmt"
	"log/slog"

	"browser-coordinator/internal/pagelock"
	"browser-coordinator/internal/statedir"
)

// ErrTaken reports a page that another agent works in.
var ErrTaken = errors.New("another agent works in this tab")

// Pages are locks, one for each page that an agent of this user works in.
type Pages struct {
	isFree bool // no folder can be used, and every claim succeeds
	log    *slog.Logger
}

// NewPages removes the files of killed programs. Without a folder for locks every claim
// succeeds.
func NewPages(log *slog.Logger) *Pages {
	if _, err := statedir.Make(); err != nil {
		log.Warn("agents of other programs may work in the same tabs, no picture is taken beyond a window, and no "+
			"stable CDP address is served: set XDG_STATE_HOME to a folder that can be written", "error", err)
		return &Pages{isFree: true, log: log}
	}
	if err := pagelock.Clean(); err != nil {
		log.Warn("locks of programs that have ended stay in the folder", "folder", statedir.Path(), "error", err)
	}
	return &Pages{log: log}
}

// Claim locks a page, by its id, until release is called. The error is ErrTaken, or why the lock
// cannot be had.
func (p *Pages) Claim(page string) (release func(), err error) {
	if p.isFree {
		return func() {}, nil
	}
	unlock, free, err := pagelock.Agent.Try(page)
	switch {
	case err != nil:
		return nil, fmt.Errorf("claim the tab: %w", err)
	case !free:
		return nil, ErrTaken
	}
	return func() {
		if err := unlock(); err != nil {
			p.log.Warn("the lock of a tab cannot be released, so no other agent works there until this program ends",
				"folder", statedir.Path(), "error", err)
		}
	}, nil
}
