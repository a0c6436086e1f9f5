package pipe

// SetMaxIncoming changes the bound until restore is called.
func SetMaxIncoming(bytes int) (restore func()) {
	old := maxIncoming
	maxIncoming = bytes
	return func() { maxIncoming = old }
}

// Count returns how many sessions and commands under way there are.
func (s *Server) Count() (sessions, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions), len(s.calls)
}
