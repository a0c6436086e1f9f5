// Package claim locks pages, so that the agents of one user do not work in the same tab,
// in whichever programs they run.
package claim

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/gofrs/flock"

	"browser-coordinator/coordinator/endpoint"
	"browser-coordinator/internal/trusted"
)

// Pages are locks on files, one for each page that an agent of this user works in.
// The system releases them when the program ends, however it ends.
type Pages struct {
	dir string // empty: no folder can be used, and every claim succeeds
	log *slog.Logger
}

// pageID is the form of a CDP target id that may be a part of a file's name.
var pageID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`) })

// NewPages removes the files of killed programs. Without a folder for locks every claim
// succeeds.
func NewPages(log *slog.Logger) *Pages {
	dir, err := endpoint.StateDir()
	if err != nil {
		log.Warn("agents of other programs may work in the same tabs, and no stable CDP address is served: "+
			"set XDG_STATE_HOME to a folder that can be written", "error", err)
		return &Pages{log: log}
	}
	c := &Pages{dir, log}
	files, _ := filepath.Glob(filepath.Join(dir, "page-*.lock"))
	for _, file := range files {
		if release, ok := c.lock(file); ok {
			release()
		}
	}
	return c
}

// Claim locks a page, by its id, until release is called; false: another agent has it.
func (c *Pages) Claim(page string) (release func(), ok bool) {
	if c.dir == "" || !pageID().MatchString(page) {
		return func() {}, true
	}
	return c.lock(filepath.Join(c.dir, "page-"+page+".lock"))
}

func (c *Pages) lock(file string) (release func(), ok bool) {
	lock := flock.New(file, flock.SetPermissions(0o600))
	ok, err := trusted.Lock(file, lock.TryLock)
	if err != nil {
		c.log.Warn("a page cannot be locked, so another agent may work in it too", "file", file, "error", err)
		return func() {}, true // sharing a page is better than having none
	}
	if !ok {
		return nil, false
	}
	return func() {
		// Remove the file while it is locked, so that no other program's file is removed. Where
		// an open file cannot be removed, remove it afterwards.
		removeErr := os.Remove(file)
		if err := lock.Unlock(); err != nil {
			c.log.Warn("the lock of a page cannot be released, so no other agent works in it until this program ends",
				"file", file, "error", err)
		}
		if removeErr != nil {
			_ = os.Remove(file)
		}
	}, true
}
