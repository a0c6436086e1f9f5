package vscodeipc

// keepName does nothing: no other process can take a pipe's name away.
func (s *Server) keepName() { s.owned.Done() }
