package registry

import (
	"cmp"
	"context"
	"sync"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/internal/notify"
	"browser-coordinator/policy"
	"browser-coordinator/vscodeipc"
)

// Source follows one workspace through every restart of its browser and of its window:
// its browser, and the policy of its user. It implements [cdpproxy.Source] and
// [policy.User].
type Source struct {
	registry  *Registry
	workspace string

	mu         sync.Mutex // guards the fields that follow
	window     *Window    // nil while no window on the workspace is open
	browser    *cdpproxy.Browser
	identity   string           // of browser: its window and debug session, and its address
	changed    notify.Broadcast // of browser, or that the window opens or closes
	generation uint64

	access        policy.State     // of the last window
	accessChanged notify.Broadcast // or the window's session

	takeover        Takeover // of the window
	takeoverChanged notify.Broadcast

	clients map[string][]vscodeipc.ConnectedClient // by who announces them
	serving bool                                   // this process serves the workspace's endpoint
	actions []vscodeipc.Activity
	dropped int // actions that had no room
	// pictures: the window shows pictures of actions.
	pictures bool
	pending  chan struct{} // holds a value when the window must be notified
}

// Source returns the one source of a workspace, by the key of its windows ([Window.Key]).
// If two windows share the workspace, the source follows the one whose browser it found
// first, while that one is open.
func (r *Registry) Source(workspace string) *Source {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sources[workspace]
	if s == nil {
		s = &Source{
			registry: r, workspace: workspace,
			access:  policy.State{Mode: policy.ModeView},
			clients: map[string][]vscodeipc.ConnectedClient{}, pending: make(chan struct{}, 1),
		}
		r.sources[workspace] = s
		if r.closing.Err() == nil {
			r.reporting.Add(1)
			go s.report()
		}
		s.update(r.entries)
	}
	return s
}

// SourceOf returns the source by which a client reaches the user of this very window: that of
// its workspace if that one follows it, else one of the window alone.
func (r *Registry) SourceOf(w Window) *Source {
	if s := r.Source(w.Key()); s.follows(w.Address) {
		return s
	}
	return r.Source(string(w.Address))
}

func (s *Source) follows(address vscodeipc.Address) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.window != nil && s.window.Address == address
}

// IsSingleWindow reports whether the source is one of a single window, by its address. Its user sees
// no clients, so cannot be asked about any.
func (s *Source) IsSingleWindow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.window == nil || s.workspace == string(s.window.Address)
}

// Browser returns the workspace's browser now, nil if it has none, and a channel
// that is closed when that is no longer true.
func (s *Source) Browser() (*cdpproxy.Browser, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.browser, s.changed.Next()
}

// Wait returns when a window on the workspace is open.
func (s *Source) Wait(ctx context.Context) error {
	for {
		s.mu.Lock()
		open, changed := s.window != nil, s.changed.Next()
		s.mu.Unlock()
		if open {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// update stores the current windows. The registry's mutex is held.
func (s *Source) update(entries map[vscodeipc.Address]*entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	window := s.follow(entries)
	s.updateAccess(window)
	opened := (s.window == nil) != (window == nil)
	s.window = window
	var browser *vscodeipc.Browser
	var identity string
	if window != nil {
		browser = window.Browser()
	}
	if browser != nil {
		identity = window.Session + " " + browser.DebugSession + " " + browser.URL
	}
	if identity == s.identity && !opened {
		return
	}
	if identity != s.identity {
		s.identity, s.browser = identity, nil
		if browser != nil {
			s.generation++
			s.browser = &cdpproxy.Browser{Generation: s.generation, Name: nameOf(window, browser),
				Product: browser.Product, Via: browser.Via, URL: browser.URL}
			if window.State.Browser == nil {
				s.browser.InProcess = window.presented.browser
			}
		}
	}
	s.changed.Notify()
}

// follow chooses the window. s.mu is held, and s.window is still the former one.
func (s *Source) follow(entries map[vscodeipc.Address]*entry) *Window {
	last := s.window
	var first *Window
	for _, e := range entries {
		w := e.window
		switch {
		case w == nil || w.Key() != s.workspace && string(w.Address) != s.workspace:
		case last != nil && w.Address == last.Address && s.generation > 0:
			return w // clients of its browser do not move to another window's
		case first == nil, w.Browser() != nil && first.Browser() == nil:
			first = w
		case (w.Browser() != nil) == (first.Browser() != nil) && precedes(w.Address, first.Address):
			first = w
		}
	}
	return first
}

// precedes reports whether the window at a takes precedence over the one at b, on the same
// workspace. The lowest suffix wins: only a window that found another one has a suffix.
// If both are alike, the directory decides.
func precedes(a, b vscodeipc.Address) bool {
	return cmp.Or(cmp.Compare(a.Suffix(), b.Suffix()), cmp.Compare(a, b)) < 0
}

// nameOf is a browser's name for people.
func nameOf(window *Window, browser *vscodeipc.Browser) string {
	for _, d := range window.State.DebugSessions {
		if d.ID == browser.DebugSession && d.Name != "" {
			return d.Name
		}
	}
	if browser.Product != "" {
		return browser.Product
	}
	return window.Title()
}
