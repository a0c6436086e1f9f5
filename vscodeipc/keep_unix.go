//go:build unix

package vscodeipc

import (
	"context"
	"time"

	"browser-coordinator/vscodeipc/internal/socket"
)

// keepName binds the window again after another process took its name away: it deleted
// or replaced the socket, or removed the directory. Connected clients notice nothing.
// keepName is owned by the server and ends with its context.
func (s *Server) keepName() {
	defer s.owned.Done()
	dirs := socket.WatchDirs(s.log)
	defer dirs.Close()
	pauses := newBackoff()
	var bound time.Time // when it was last bound again
	for s.ctx.Err() == nil {
		if s.binding().IsFound() {
			select {
			case <-dirs.Changes():
			case <-s.ctx.Done():
			}
			continue
		}
		// Back off: another process may remove the name again and again.
		if time.Since(bound) > time.Minute {
			pauses.Reset()
		} else if !pauses.Sleep(s.ctx) {
			return
		}
		bound = time.Now()
		if err := s.rebind(); err != nil && s.ctx.Err() == nil {
			s.log.Error("window lost its socket and cannot bind it again", "error", err)
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
