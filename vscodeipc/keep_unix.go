//go:build unix

package vscodeipc

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"browser-coordinator/vscodeipc/internal/socket"
)

// keepName binds the window again after another process took its name away: it deleted
// or replaced the socket, or removed the directory. Connected clients notice nothing.
// keepName is owned by the server and ends with its context.
func (s *Server) keepName() {
	defer s.owned.Done()
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		s.log.Warn("window cannot watch over its socket", "error", err)
		return
	}
	defer notify.Close()
	pauses := newBackoff()
	var bound time.Time // when it was last bound again
	for s.ctx.Err() == nil {
		dir, data := filepath.Dir(string(s.Address())), s.binding().Data
		err := notify.Add(dir)
		if err == nil && data != dir {
			err = notify.Add(data)
		}
		if s.hasName() {
			if err != nil {
				s.log.Warn("window cannot watch over its socket", "error", err)
				return
			}
			s.awaitLoss(notify, dir, data)
			continue
		}
		// Back off: another process may remove the name again and again.
		if time.Since(bound) > time.Minute {
			pauses.Reset()
		} else if !s.wait(pauses.Next()) {
			return
		}
		bound = time.Now()
		if err := s.rebind(); err != nil && s.ctx.Err() == nil {
			s.log.Error("window lost its socket and cannot bind it again", "error", err)
		}
	}
}

// wait reports whether the window is still open after d.
func (s *Server) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.ctx.Done():
		return false
	}
}

func (s *Server) binding() *socket.Binding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound
}

// hasName reports whether clients find the window's name and the name leads to its
// socket.
func (s *Server) hasName() bool {
	return s.binding().IsFound()
}

// awaitLoss returns after a change to the name, to a directory, or to the file that
// names a short directory.
func (s *Server) awaitLoss(notify *fsnotify.Watcher, dir, data string) {
	ours := []string{string(s.Address()), dir, data, filepath.Join(data, socket.ShortName)}
	for {
		select {
		case e := <-notify.Events:
			if slices.Contains(ours, e.Name) {
				return
			}
		case <-notify.Errors:
			return // events are lost: check the name
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *Server) rebind() error {
	b, err := socket.Bind(s.ctx, s.key)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), socket.LockTimeout)
		defer cancel()
		return b.Unbind(ctx)
	}
	old := s.bound
	s.bound = b
	s.owned.Add(1)
	go s.acceptLoop(b.Listener)
	s.mu.Unlock()
	s.log.Warn("window lost its socket and is bound again", "was", old.Address, "is", b.Address)
	return old.Listener.Close()
}
