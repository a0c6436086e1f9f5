package vscodeipc

import "slices"

// listen subscribes and responds in one step. The client's next event is the one after
// the state in the response (spec 5, listen).
func (s *Server) listen(c *serverConn, r request, l listenRequest) *Error {
	if fault := s.offered(l.Events); fault != nil {
		return fault
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := ListenAnswer{Session: s.hello.Session, Seq: s.seq}
	var missed []record
	if l.Resume != nil && l.Resume.Session == s.hello.Session {
		missed, answer.Resumed = s.history.since(l.Resume.Seq, s.seq)
	}
	if !answer.Resumed {
		state := s.state.in(r.version)
		answer.State = &state
	}
	c.out.send(encodeAnswer(r.id, answer, nil))
	for _, m := range missed {
		if slices.Contains(l.Events, m.event) {
			c.out.send(m.in(r.version))
		}
	}
	for _, event := range l.Events {
		c.listening[event] = r.version
	}
	return nil
}

func (s *Server) unlisten(c *serverConn, events []string) *Error {
	if fault := s.offered(events); fault != nil {
		return fault
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, event := range events {
		delete(c.listening, event)
	}
	return nil
}

func (s *Server) offered(events []string) *Error {
	for _, event := range events {
		if !slices.Contains(s.hello.Events, event) {
			return errorf(CodeUnknownEvent, map[string]any{"offered": s.hello.Events}, "the event %q is not offered", event)
		}
	}
	return nil
}
