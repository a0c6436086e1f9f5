package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/gofrs/flock"

	"browser-coordinator/coordinator/endpoint"
)

// pageClaims are locks on files, one for each page that an agent of this user
// works in: the system ends them with the program, however that ends.
type pageClaims struct {
	dir string // empty: there is none
	log *slog.Logger
}

// pageID is what a CDP target id may be, as a part of a file's name.
var pageID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`) })

// newPageClaims removes what programs that were killed have left. Where there is no
// folder for locks, pages are not kept apart.
func newPageClaims(log *slog.Logger) *pageClaims {
	dir, err := endpoint.StateDir()
	if err != nil {
		log.Warn("agents of other programs may work in the same tabs, and no stable CDP address is served: set XDG_STATE_HOME to a folder that can be written", "error", err)
		return &pageClaims{log: log}
	}
	c := &pageClaims{dir, log}
	left, _ := filepath.Glob(filepath.Join(dir, "page-*.lock"))
	for _, file := range left {
		if release, ok := c.lock(file); ok {
			release()
		}
	}
	return c
}

func (c *pageClaims) Claim(page string) (release func(), ok bool) {
	if c.dir == "" || !pageID().MatchString(page) {
		return func() {}, true
	}
	return c.lock(filepath.Join(c.dir, "page-"+page+".lock"))
}

func (c *pageClaims) lock(file string) (release func(), ok bool) {
	lock := flock.New(file, flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		c.log.Warn("a page cannot be claimed", "file", file, "error", err)
		return func() {}, true // better shared than not to be had
	}
	if !ok {
		return nil, false
	}
	return func() {
		// Removed while it is locked, so that nobody else's is; where an open file
		// cannot be removed, afterwards.
		kept := os.Remove(file)
		if err := lock.Unlock(); err != nil {
			c.log.Warn("a page's claim did not end well", "file", file, "error", err)
		}
		if kept != nil {
			_ = os.Remove(file)
		}
	}, true
}
