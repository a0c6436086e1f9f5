package pagebrowser

// switches are what a session has turned on. The answer to what turns one off may
// come after the command that turns it on again, so each turn has a number. The
// zero switches are ready, and all off.
type switches struct {
	turns int
	on    map[string]int
}

func (s *switches) turnOn(name string) {
	if s.on == nil {
		s.on = map[string]int{}
	}
	s.turns++
	s.on[name] = s.turns
}

func (s *switches) isOn(name string) bool { return s.on[name] > 0 }

// turnOff turns off what was on with that turn, and nothing if it has been turned
// on again.
func (s *switches) turnOff(name string, turn int) {
	if s.on[name] == turn {
		delete(s.on, name)
	}
}

// off returns what ends something that this session has turned on by now.
func (l *link) off(name string) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn := l.on.on[name]
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.on.turnOff(name, turn)
	}
}
