package pipe

// Count returns how many sessions and commands under way there are.
func (s *Server) Count() (sessions, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions), len(s.calls)
}
