// Package claim keeps apart what the agents of one user do at once, in whichever programs they run.
// An agent claims what only one may have, such as a page, and publishes what it has set on what others
// share. Both are locked files that name their owner.
//
//	owner := pages.Owner(id, name)
//	release, err := owner.Claim(page)                   // errors.Is(err, claim.ErrTaken): another agent works there
//	err = owner.Set(page, "routes", "answers requests") // until the text is empty
//	others := owner.Others(page)                        // what the other agents and clients have set there
package claim

import (
	"errors"
	"log/slog"

	"browser-coordinator/internal/pagelock"
	"browser-coordinator/internal/statedir"
)

// ErrTaken reports what another agent has claimed; a [TakenError] names that.
var ErrTaken = errors.New("another agent has it")

// TakenError is ErrTaken.
type TakenError struct{ Owner string }

func (e *TakenError) Error() string { return e.Owner + " has it" }

// Is makes errors.Is(err, ErrTaken) true.
func (e *TakenError) Is(target error) bool { return target == ErrTaken }

// Pages are what this user's agents have claimed and set.
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

// release unlocks what was locked.
func (p *Pages) release(unlock func() error) {
	if err := unlock(); err != nil {
		p.log.Warn("a lock cannot be released, so no other agent gets what it is for until this program ends",
			"folder", statedir.Path(), "error", err)
	}
}
