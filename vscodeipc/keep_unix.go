//go:build unix

package vscodeipc

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// keepName binds the window again when somebody has taken its name away: the
// socket deleted or replaced, the directory removed. Clients that are connected
// notice nothing. It is owned by the server and ends with its context.
func (s *Server) keepName() {
	defer s.owned.Done()
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		s.log.Warn("window cannot watch over its socket", "error", err)
		return
	}
	defer notify.Close()
	var pauses backoff
	var bound time.Time // when it was bound again last
	for s.ctx.Err() == nil {
		dir := filepath.Dir(string(s.Address()))
		err := notify.Add(dir)
		if s.hasName() {
			if err != nil {
				s.log.Warn("window cannot watch over its socket", "error", err)
				return
			}
			s.awaitLoss(notify, dir)
			continue
		}
		// Whoever takes the name away again and again gets a slow opponent.
		if time.Since(bound) > time.Minute {
			pauses.reset()
		} else if !s.wait(pauses.next()) {
			return
		}
		bound = time.Now()
		if err := s.rebind(); err != nil && s.ctx.Err() == nil {
			s.log.Error("window lost its socket and cannot bind it again", "error", err)
		}
	}
}

// wait reports whether the window still is open after d.
func (s *Server) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.ctx.Done():
		return false
	}
}

// hasName reports whether the window's name leads to its socket.
func (s *Server) hasName() bool {
	s.mu.Lock()
	bound := s.bound
	s.mu.Unlock()
	info, err := os.Lstat(string(bound.address))
	return err == nil && same(info, bound.info)
}

// awaitLoss ends when something happened to the name or to the directory.
func (s *Server) awaitLoss(notify *fsnotify.Watcher, dir string) {
	address := string(s.Address())
	for {
		select {
		case e := <-notify.Events:
			if e.Name == address || e.Name == dir {
				return
			}
		case <-notify.Errors:
			return // events are lost: look
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *Server) rebind() error {
	b, err := bind(s.ctx, s.key)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), lockPatient)
		defer cancel()
		return b.unbind(ctx)
	}
	old := s.bound
	s.bound = b
	s.owned.Add(1)
	go s.acceptLoop(b.listener)
	s.mu.Unlock()
	s.log.Warn("window lost its socket and is bound again", "was", old.address, "is", b.address)
	return old.listener.Close()
}
