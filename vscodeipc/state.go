package vscodeipc

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// normal returns the state with empty lists instead of nil, since the schema has no null
// there, and with a known access mode.
func (s State) normal() State {
	if s.DebugSessions == nil {
		s.DebugSessions = []DebugSession{}
	}
	if s.Pages == nil {
		s.Pages = []PageEndpoint{}
	}
	s.Access = s.Access.normal()
	return s
}

// UnmarshalJSON reads what the user allows and never fails: a value that is missing,
// unknown or of another type counts as the least, AccessView.
func (a *Access) UnmarshalJSON(raw []byte) error {
	members, _ := decodeObject(raw)
	mode, _ := decodeString(members["mode"])
	a.Mode, a.Stopped, a.TakenOver = AccessMode(mode), nil, false
	if fault := decodeValue(members["stopped"], reflect.ValueOf(&a.Stopped).Elem(), "",
		bounds{0, maxItems}); fault != nil {
		a.Mode = AccessView
	}
	if raw, present := members["takenOver"]; present &&
		decodeValue(raw, reflect.ValueOf(&a.TakenOver).Elem(), "", anyLength) != nil {
		a.Mode = AccessView
	}
	*a = a.normal()
	return nil
}

func (a Access) normal() Access {
	switch a.Mode {
	case AccessFull, AccessAsk, AccessView:
	default:
		a.Mode = AccessView
	}
	if a.Stopped == nil {
		a.Stopped = []string{}
	}
	return a
}

// loopback is the schema's pattern for the URL of an endpoint.
var loopback = regexp.MustCompile(`^ws://(127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}/`)

// accept prepares a received state for use. It refuses an endpoint that is not on
// loopback: a window must not lead a client to another machine.
func (s *State) accept() error {
	*s = s.normal()
	if s.Browser != nil && !loopback.MatchString(s.Browser.URL) {
		return fmt.Errorf("%w: the address of its browser is not ws://127.0.0.1:PORT/…", errIncompatible)
	}
	for _, p := range s.Pages {
		if !loopback.MatchString(p.URL) { // not with the page's name, which may be its title
			return fmt.Errorf("%w: the address of one of its pages is not ws://127.0.0.1:PORT/…", errIncompatible)
		}
	}
	return nil
}

// fits checks that a window is the one that its address names. Otherwise it would get
// requests for another workspace.
func (h *Hello) fits(a Address) error {
	key := a.Key()
	switch {
	case key == "":
		return nil
	case strings.HasPrefix(key, "pid-"):
		if h.Workspace != "" {
			return fmt.Errorf("%w: its address is that of a window without a folder, but its hello names %q",
				errIncompatible, h.Workspace)
		}
	case h.Workspace == "":
		return fmt.Errorf("%w: its address is that of a workspace, but its hello names none", errIncompatible)
	case Hash(h.Workspace) != key:
		return fmt.Errorf("%w: its hello names the workspace %q, but its address is another's", errIncompatible,
			h.Workspace)
	}
	return nil
}
