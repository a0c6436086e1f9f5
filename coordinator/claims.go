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
	dir string
	log *slog.Logger
}

// pageID is what a CDP target id may be, as a part of a file's name.
var pageID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z-]{1,64}$`) })

// newPageClaims removes what programs that were killed have left.
func newPageClaims(log *slog.Logger) (*pageClaims, error) {
	dir, err := endpoint.StateDir()
	if err != nil {
		return nil, err
	}
	c := &pageClaims{dir, log}
	left, _ := filepath.Glob(filepath.Join(dir, "page-*.lock"))
	for _, file := range left {
		if release, ok := c.lock(file); ok {
			release()
		}
	}
	return c, nil
}

func (c *pageClaims) Claim(page string) (release func(), ok bool) {
	if !pageID().MatchString(page) {
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
